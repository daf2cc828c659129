/** Listens on a free port and sends the address to the parent process. Exits when the parent process exits. */
export async function listen(app) {
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  process.send({ address });
  process.on('disconnect', () => process.exit(0));
}
