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

/**
 * Sends JSON text that is produced in pieces. If the text is long, more of it is produced only after the connection has
 * accepted the previous part. The way in which the text is sent depends only on the text, not on the pieces. Threat: the
 * pieces depend on the size of data that the caller may not see.
 */
export async function sendPieces(reply: FastifyReply, pieces: AsyncIterator<string>): Promise<FastifyReply> {
  let start = '';
  while (start.length < partBytes) {
    const piece = await pieces.next();
    if (piece.done === true) return sendText(reply, 200, start);
    start += piece.value;
  }
  reply.server.admission.respond(reply.request, Buffer.byteLength(start));
  return asJson(reply.code(200)).send(Readable.from(partsOfPieces(start, pieces), { objectMode: false }));
}

async function* partsOfPieces(start: string, pieces: AsyncIterator<string>): AsyncIterable<Buffer> {
  let kept = Buffer.from(start);
  for (;;) {
    for (; kept.length >= partBytes; kept = kept.subarray(partBytes)) yield kept.subarray(0, partBytes);
    const piece = await pieces.next();
    if (piece.done === true) break;
    kept = Buffer.concat([kept, Buffer.from(piece.value)]);
  }
  if (kept.length > 0) yield kept;
}

function asJson(reply: FastifyReply): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').header('cache-control', 'no-store');
}

function* partsOf(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
}
