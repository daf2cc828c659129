import type { FastifyRequest } from 'fastify';

const accepted = /^[A-Za-z0-9._-]{1,100}$/;

/**
 * Matches a UUID with or without hyphens. Tracing libraries write both forms. A random UUID often contains many digits
 * in a row, so a UUID with a letter is exempt from the limits on digits.
 */
const uuid = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/**
 * Returns the first valid trace id in the headers of a request. If there is none, generates one. Threat: a caller sends
 * a card number as a trace id, and the vault writes it to the log.
 *
 * The function therefore ignores a trace id that has at least nine digits and no letter (docs/contract.md, "Trace
 * ids"). It also ignores a trace id with twelve or more digits in a row, even if separators group them. A UUID is
 * always accepted if it contains a letter. See ADR 18.
 */
export function traceIdOf({ headers }: FastifyRequest, headerNames: readonly string[], generate: () => string): string {
  for (const name of headerNames) {
    const given = headers[name];
    if (typeof given === 'string' && accepted.test(given) && !looksLikeANumber(given)) return given;
  }
  return generate();
}

function looksLikeANumber(text: string): boolean {
  if (!/[A-Za-z]/.test(text)) return (text.match(/[0-9]/g)?.length ?? 0) >= 9;
  return !uuid.test(text) && /[0-9]{12}/.test(text.replaceAll(/[._-]/g, ''));
}
