import type { FastifyRequest } from 'fastify';

/** Returns the value of the first header in `names` that the request contains. The names must be in lower case. */
export function headerOf({ headers }: FastifyRequest, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}
