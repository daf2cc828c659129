import { createServer } from 'node:net';

/**
 * Returns a port that is currently free. The port is chosen in advance, because the provider needs the console's
 * address before the console listens.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
