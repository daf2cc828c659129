import type { FastifyRequest } from 'fastify';
import { parseVisitor, type Visitor } from '../../domain/access/visitor.js';
import { type Checked, invalid } from '../../domain/field-errors.js';

const names = { person: 'SERVICE-PERSON', reason: 'SERVICE-REASON' } as const;

/**
 * Returns the person and the reason from the headers of a request, or null if the request has neither header
 * (docs/contract.md, "Person and reason").
 */
export function statedVisitor(request: FastifyRequest): Checked<Visitor | null> {
  const [person, reason] = [decoded(request, names.person), decoded(request, names.reason)];
  if (person === null) return invalid(names.person, notEncoded);
  if (reason === null) return invalid(names.reason, notEncoded);
  return parseVisitor({
    person: { name: names.person, text: person },
    reason: { name: names.reason, text: reason },
  });
}

const notEncoded = 'must be percent-encoded UTF-8';

/**
 * Returns the decoded header, undefined if the header is absent, or null if the header is not valid percent-encoded
 * text. Node.js decodes headers as Latin-1, so UTF-8 without percent-encoding would be garbled.
 */
function decoded({ headers }: FastifyRequest, name: string): string | undefined | null {
  const value = headers[name.toLowerCase()];
  if (typeof value !== 'string') return undefined;
  if (!/^[\x20-\x7e]*$/.test(value)) return null;
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
