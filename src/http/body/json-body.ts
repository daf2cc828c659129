import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Json } from '../../domain/json.js';
import type { Turns } from '../../vault/turns.js';
import { Problem } from '../problem/problem.js';
import { callerOf } from '../request-state.js';
import { joinChunks } from './join-chunks.js';
import { parsingJsonBody } from './parse-json-body.js';

/** Only a body longer than this can arrive in so many chunks that their number matters. */
const shortBodyBytes = 16 * 1024;

/**
 * Reads every body as JSON after checking its media type. A missing or different media type returns 415; unacceptable
 * JSON returns 400 (docs/contract.md, "Request bodies"). The media type of a request without a body is not checked.
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
 * Returns the body of a request that accepts any JSON. Throws Problem 400 if there is no body. The body parser produced
 * the value, so it is JSON.
 */
export function jsonBodyOf({ body }: { readonly body: unknown }): Json {
  if (body === undefined) throw new Problem('validation_failed', { body: ['is required'] });
  return body as Json;
}
