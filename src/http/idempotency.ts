import type { FastifyRequest } from 'fastify';
import type { CommandContext } from '../vault/command-context.js';
import { headerOf } from './header.js';
import { Problem } from './problem/problem.js';

const charactersMax = 200;

/**
 * Returns the idempotency key and the path of a request. Returns null if the request has no idempotency key. Throws
 * Problem 400 if the length of the key is invalid (docs/contract.md, "Idempotency").
 */
export function idempotencyOf(
  request: FastifyRequest,
  headerNames: readonly string[],
  path: string,
): CommandContext['idempotency'] {
  const key = headerOf(request, headerNames);
  if (key === undefined) return null;
  if (key.length === 0 || key.length > charactersMax) {
    throw new Problem('validation_failed', {
      'SERVICE-IDEMPOTENCY-KEY': [`must have 1 to ${charactersMax} characters`],
    });
  }
  return { method: request.method, path, key };
}
