import type { FastifyRequest } from 'fastify';

/** The first of these headers that a request has; the names in lower case. */
export function headerOf({ headers }: FastifyRequest, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}
