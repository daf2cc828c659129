import type { FastifyRequest } from 'fastify';
import { Problem } from './problem.js';

/** The parameters of a query string, decoded; a repeated one has all its values in order. */
export type QueryString = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The query string of a request; 400 when it is no percent-encoded UTF-8 (contract, section 1 "Errors"). */
export function queryStringOf({ url, query }: FastifyRequest): QueryString {
  const start = url.indexOf('?');
  try {
    if (start !== -1) decodeURIComponent(url.slice(start));
  } catch {
    throw new Problem('malformed_request');
  }
  return query as QueryString;
}

/** All values of a parameter, in order; null: it was not given. */
export function valuesOf(query: QueryString, name: string): readonly string[] | null {
  const given = query[name];
  if (given === undefined) return null;
  return typeof given === 'string' ? [given] : given;
}
