import type { FastifyRequest } from 'fastify';
import { codePointCount } from '../domain/text.js';
import type { RequestContext } from '../vault/request-context.js';
import { Problem } from './problem/problem.js';

const charactersMax = 200;

/**
 * Returns the idempotency key and the path of a request. Returns null if the request has no idempotency key. Throws
 * Problem 400 if the length of the key is invalid (docs/contract.md, "Idempotency").
 */
export function idempotencyOf(
  { method, headers, raw }: FastifyRequest,
  headerNames: readonly string[],
  path: string,
): RequestContext['idempotency'] {
  const name = headerNames.find((candidate) => typeof headers[candidate] === 'string');
  const key = name === undefined ? undefined : headers[name];
  if (name === undefined || typeof key !== 'string') return null;
  // Node.js decodes headers as Latin-1, which is at least as long as the UTF-8 text.
  const characters = key.length <= charactersMax ? key.length : codePointCount(Buffer.from(key, 'latin1').toString());
  if (characters === 0 || characters > charactersMax) {
    const spelled = raw.rawHeaders.find((sent) => sent.toLowerCase() === name) ?? name;
    const field = name.startsWith('service-') ? name.toUpperCase() : spelled;
    throw new Problem('validation_failed', { errors: { [field]: [`must have 1 to ${charactersMax} characters`] } });
  }
  return { method, path, key };
}
