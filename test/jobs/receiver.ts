import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#src/domain/json.js';

export type Received = {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: JsonObject;
  readonly data: JsonObject;
};

type Respond = (response: ServerResponse, received: Received, request: IncomingMessage) => void;

export type Receiver = {
  readonly url: string;
  readonly received: Received[];
  /** Sends the receiver's response. By default, its status is 204. */
  respond: Respond;
  close(): Promise<void>;
};

/** Starts a webhook receiver. It is a real HTTP server on this machine. */
export async function startReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const body = JSON.parse(text) as JsonObject;
      const one = { headers: request.headers as Record<string, string>, text, body, data: body['data'] as JsonObject };
      received.push(one);
      receiver.respond(response, one, request);
    });
  });
  // By default, a server closes a connection that was idle for 5 seconds. If a busy machine did nothing for that long,
  // the next request would be sent on the connection while the server closes it, and would fail.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://${host}:${port}/hook`,
    received,
    respond: (response) => response.writeHead(204).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
