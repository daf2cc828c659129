import type { FastifyRequest } from 'fastify';
import { headerOf } from '../header.js';

const accepted = /^[A-Za-z0-9._-]{1,100}$/;

/**
 * Matches a UUID with or without hyphens, as tracing libraries write it. A random UUID often contains a long run of
 * digits.
 */
const uuid = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/**
 * Returns the trace id of a request: the one in its headers, or a generated one. Threat: trace ids are logged, and a
 * caller may send a card number as one. A trace id with nine or more digits and no letter is therefore ignored
 * (docs/contract.md, "Trace ids"). A trace id with twelve or more digits in a row, even if separators group them, is
 * also ignored unless it is a UUID. See ADR 18.
 */
export function traceIdOf(request: FastifyRequest, headerNames: readonly string[], generate: () => string): string {
  const given = headerOf(request, headerNames);
  return given === undefined || !accepted.test(given) || looksLikeANumber(given) ? generate() : given;
}

function looksLikeANumber(text: string): boolean {
  if (!/[A-Za-z]/.test(text)) return (text.match(/[0-9]/g)?.length ?? 0) >= 9;
  return !uuid.test(text) && /[0-9]{12}/.test(text.replaceAll(/[._-]/g, ''));
}
