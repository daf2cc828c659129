import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Json } from '../../domain/json.js';
import type { Turns } from '../../vault/turns.js';
import { Problem } from '../problem/problem.js';
import { callerOf } from '../request-state.js';
import { joinChunks } from './join-chunks.js';
import { parsingJsonBody } from './parse-json-body.js';

/** If a body is at most this long, the number of its chunks is too small to matter. */
const shortBodyBytes = 16 * 1024;

/**
 * Checks the media type of every body, then parses the body as JSON. If the media type is missing or is not the one
 * that the route requires, the response is 415. If the JSON is not acceptable, the response is 400 (docs/contract.md,
 * "Request bodies"). A request without a body needs no media type.
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
    const work = turns.begin(callerOf(request).tenantId);
    const parsed = await work.run(parsingJsonBody(body));
    if (!parsed.ok) throw new Problem('malformed_body', { [parsed.path ?? 'body']: [parsed.message] });
    return parsed.value;
  });
}

/**
 * Returns the request body for a route that accepts any JSON. Throws Problem 400 if there is no body. The value is
 * always JSON because the body parser produced it.
 */
export function jsonBodyOf({ body }: { readonly body: unknown }): Json {
  if (body === undefined) throw new Problem('validation_failed', { body: ['is required'] });
  return body as Json;
}
