import type { FastifyRequest } from 'fastify';
import { headerOf } from './header.js';

const accepted = /^[A-Za-z0-9._-]{1,100}$/;

/**
 * The trace id of a request: its own, or a generated one. One with nine or more digits and no letter may be a card
 * number, and a trace id is logged, so it is ignored (contract, section 1).
 */
export function traceIdOf(request: FastifyRequest, headerNames: readonly string[], generate: () => string): string {
  const given = headerOf(request, headerNames);
  return given === undefined || !accepted.test(given) || looksLikeANumber(given) ? generate() : given;
}

function looksLikeANumber(text: string): boolean {
  return !/[A-Za-z]/.test(text) && (text.match(/[0-9]/g)?.length ?? 0) >= 9;
}
