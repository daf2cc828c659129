import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished, test } from 'vitest';
import { writeBeforeClosing, writeTogether } from '#src/http/load/write-together.js';

/** Starts a server that waits for a request on each of two connections. Returns it with the responses and the clients. */
async function twoRequests(connection = 'close') {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => responses.push(response));
  writeBeforeClosing(server);
  server.on('connection', writeTogether);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  for (const path of ['/one', '/other']) {
    const client = connect(port, '127.0.0.1');
    const received = once(server, 'request');
    client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`);
    await received;
    clients.push(client);
  }
  return { server, responses, clients };
}

test('the responses of one turn of the event loop are written at its end, each of them completely', async ({
  expect,
}) => {
  const { responses, clients } = await twoRequests();
  const sockets = responses.map(({ socket }) => socket);
  for (const [index, response] of responses.entries()) {
    response.write('part 1 ');
    response.write('part 2 ');
    response.end(`of ${index}`);
  }
  await Promise.resolve();
  expect(sockets.map((socket) => (socket?.writableLength ?? 0) > 0)).toEqual([true, true]);
  await nextTurn();
  expect(sockets.map((socket) => socket?.writableLength)).toEqual([0, 0]);
  const bodies = await Promise.all(clients.map(text));
  for (const [index, body] of bodies.entries()) {
    expect(body).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(body.replace(/\r\n[0-9a-f]+\r\n/g, '')).toContain(`part 1 part 2 of ${index}`);
  }
});

test('a response whose connection was destroyed in the same turn does not hold up the other', async ({ expect }) => {
  const { responses, clients } = await twoRequests();
  const closed = once(clients[0] as Socket, 'close');
  responses[0]?.end('lost');
  responses[0]?.socket?.destroy();
  responses[1]?.end('arrives');
  await closed;
  expect(await text(clients[1] as Socket)).toContain('arrives');
});

test('a response that has ended arrives although idle connections are closed in the same turn', async ({ expect }) => {
  const { server, responses, clients } = await twoRequests('keep-alive');
  for (const response of responses) response.end('arrives');
  server.closeIdleConnections();
  for (const client of clients) expect(await text(client)).toContain('arrives');
});
