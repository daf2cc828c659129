import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Json } from '../../domain/json.js';
import type { Turns } from '../../vault/turns.js';
import { Problem } from '../problem/problem.js';
import { callerOf } from '../request-state.js';
import { parsingJsonBody } from './parse-json-body.js';

/** If a body is at most this long, its chunks are not combined, because there are too few to use much memory. */
const shortBodyBytes = 16 * 1024;

/**
 * Checks the media type of every body, then parses the body as JSON. The response is 415 if the media type is missing
 * or differs from the one that the route requires. It is 400 if the JSON is not acceptable (docs/contract.md, "Request
 * bodies"). A request without a body needs no media type.
 */
export function readJsonBodies(app: FastifyInstance, turns: Turns): void {
  app.removeAllContentTypeParsers();
  app.addHook('preParsing', ({ headers }, _reply, body, done) => {
    const announced = headers['content-length'];
    const isShort = announced === undefined ? !headers['transfer-encoding'] : Number(announced) <= shortBodyBytes;
    done(null, isShort ? body : joinChunks(body as Readable));
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const { mediaType } = request.routeOptions.config;
    if (mediaType === undefined || body.length === 0) return undefined;
    const [given] = (request.headers['content-type'] ?? '').split(';');
    if (given?.trim().toLowerCase() !== mediaType) throw new Problem('unsupported_media_type');
    const slices = turns.begin(callerOf(request).tenantId);
    const parsed = await slices.run(parsingJsonBody(body));
    if (!parsed.ok) throw new Problem('malformed_body', { errors: { [parsed.path ?? 'body']: [parsed.message] } });
    return parsed.value;
  });
}

/**
 * Returns the request body for a route that accepts any JSON. Throws Problem 400 if the request has no body. The value
 * is always JSON, because our body parser produced it.
 */
export function jsonBodyOf({ body }: { readonly body: unknown }): Json {
  if (body === undefined) throw new Problem('validation_failed', { errors: { body: ['is required'] } });
  return body as Json;
}

const blockBytes = 64 * 1024;

/**
 * Copies a body into 64 KiB blocks, regardless of the size of its chunks. Threat: an attacker sends a 4 MiB body in
 * one-byte chunks. If the chunks were stored as they arrive, their four million buffers would take more than a gigabyte
 * of memory.
 */
export function joinChunks(body: Readable): Readable {
  let block = Buffer.allocUnsafeSlow(blockBytes);
  let filled = 0;
  const joined = new Readable({
    read: () => void body.resume(),
    destroy(error, done) {
      block = Buffer.alloc(0);
      done(error);
    },
  });

  function flush(): void {
    const hasRoom = joined.push(block.subarray(0, filled));
    block = Buffer.allocUnsafeSlow(blockBytes);
    filled = 0;
    if (!hasRoom) body.pause();
  }

  body.on('data', (chunk: Buffer) => {
    if (joined.destroyed) return;
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(block, filled, at);
      at += copied;
      filled += copied;
      if (filled === blockBytes) flush();
    }
  });
  body.on('end', () => {
    if (filled > 0) flush();
    joined.push(null);
  });
  body.on('error', (error) => joined.destroy(error));
  return joined;
}
