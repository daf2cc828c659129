import { createServer as createHttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:tls';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { createAccess } from './access.mjs';
import { addServices } from './grpc-services.mjs';

/** @typedef {import('./cluster-member.mjs').Member} Member */
/** @typedef {{ cert: Buffer, key: Buffer, adminPassword: string | undefined }} Secure */

/**
 * Serves one log on a loopback port. Port 0 selects a free port.
 * @param {Member} member
 * @param {number} port
 * @param {Secure | null} secure If null, the server has neither TLS nor users
 */
export async function serve(member, port, secure) {
  const server = new Server({
    // A real server has the same limits on concurrent calls per connection and on the size of a message.
    'grpc.max_concurrent_streams': 100,
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
    'grpc.max_send_message_length': -1,
  });
  const access = createAccess(secure?.adminPassword);
  addServices(server, member, access);
  if (secure !== null) return serveTls(server, member, access, port, secure);
  /** @type {number} */
  const bound = await new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, actual) => {
      if (error) reject(error);
      else resolve(actual);
    });
  });
  return { url: `esdb://127.0.0.1:${bound}?tls=false`, close: () => server.forceShutdown() };
}

/**
 * Serves two APIs on one port: gRPC, and the HTTP API that creates users. During the TLS handshake, a client selects
 * the API through the protocol that it negotiates.
 * @param {Server} server
 * @param {Member} member
 * @param {ReturnType<typeof createAccess>} access
 * @param {number} port
 * @param {Secure} secure
 */
async function serveTls(server, member, access, port, { cert, key }) {
  const grpc = server.createConnectionInjector(ServerCredentials.createInsecure());
  const http = createHttpServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    const store = await member.store();
    const isKnown = request.method === 'POST' && request.url === '/users/';
    if (!isKnown || 'endpoint' in store) response.writeHead(isKnown ? 503 : 404).end();
    else response.writeHead(await access.createUser(store, request.headers.authorization, body)).end();
  });
  const front = createTlsServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    if (socket.alpnProtocol === 'h2') grpc.injectConnection(socket);
    else http.emit('connection', socket);
  });
  front.on('tlsClientError', () => undefined);
  await new Promise((resolve) => front.listen(port, '127.0.0.1', () => resolve(undefined)));
  const address = front.address();
  const bound = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `esdb://localhost:${bound}`, close: () => void front.close() };
}
