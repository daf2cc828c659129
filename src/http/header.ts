import type { FastifyRequest } from 'fastify';

/** Returns the value of the first listed header that the request contains. Names must be lowercase. */
export function headerOf({ headers }: FastifyRequest, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}
