import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Json } from '../domain/json.js';

/**
 * A long response is sent in parts of this many bytes. This lets the service distinguish a client that reads slowly
 * from one that has stopped reading.
 */
const partBytes = 64 * 1024;

/** Sends a JSON value. Headers prevent caches between the vault and the caller from storing it. */
export function sendJson(reply: FastifyReply, status: 200 | 201, body: Json): FastifyReply {
  return sendText(reply, status, JSON.stringify(body));
}

/** Sends JSON text with the same headers as `sendJson`. */
export function sendText(reply: FastifyReply, status: 200 | 201, text: string): FastifyReply {
  const head = asJson(reply.code(status));
  if (text.length < partBytes) return head.send(text);
  const bytes = Buffer.from(text);
  reply.server.admission.respond(reply.request, bytes.length);
  return head.header('content-length', bytes.length).send(Readable.from(partsOf(bytes), { objectMode: false }));
}

/** Sends JSON text in pieces. Each piece is produced only after the connection has accepted the previous piece. */
export function sendPieces(reply: FastifyReply, pieces: AsyncIterable<string>): FastifyReply {
  async function* parts(): AsyncIterable<Buffer> {
    for await (const piece of pieces) yield* partsOf(Buffer.from(piece));
  }
  return asJson(reply.code(200)).send(Readable.from(parts(), { objectMode: false }));
}

function asJson(reply: FastifyReply): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').header('cache-control', 'no-store');
}

function* partsOf(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
}
