import { z } from 'zod';
import type { RecordedFact, TokenEventHeader, TokenEventType } from '../../domain/token/token-event-header.js';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import type { ClearEvent } from '../event.js';
import { readClear } from '../read-clear.js';

const keyId = z.string();
const ends = z.array(keyId);
const time = z.number().int();
const times = { expires_at: time.optional(), cvc_purge_at: time.optional() };

/**
 * The schema of each event's plaintext part, in its newest version. The types are in
 * `domain/token/token-event-header.ts`.
 */
const schemas: {
  readonly [T in TokenEventType]: z.ZodType<Extract<TokenEventHeader, { type: T }>['clear']>;
} = {
  'token.created': z.object({ token_type: z.enum(tokenTypes), key: keyId, cvc_key: keyId.optional(), ...times }),
  'token.updated': z.object({
    changed: z.array(z.string()),
    key: keyId,
    cvc: z.enum(['kept', 'set', 'removed']),
    cvc_key: keyId.optional(),
    ...times,
    keeps: keyId.optional(),
    ends,
  }),
  'token.deleted': z.object({ reason: z.enum(['request', 'undone']), ends }),
  'token.expired': z.object({ due_at: time, ends }),
  'token.property.expired': z.object({
    property: z.literal('cvc'),
    reason: z.enum(['due', 'request']),
    due_at: time,
    keeps: keyId.optional(),
    ends,
  }),
  'token.fenced': z.object({}),
};

/** The types of all token events. */
export const tokenEventTypes = Object.keys(schemas) as readonly TokenEventType[];

const endings: Readonly<Record<string, boolean>> = {
  'token.created': false,
  'token.updated': false,
  'token.deleted': true,
  'token.expired': true,
  'token.property.expired': false,
  'token.fenced': false,
} satisfies Record<TokenEventType, boolean>;

/** Returns true for the type of an event that ends a token's life and marks its keys for destruction. */
export function endsToken(type: string): boolean {
  return endings[type] === true;
}

/** The schema version of the token events written by this program. */
export const tokenEventVersion = 1;

/**
 * Converts a stored event to the newest version, in the form that `evolve` accepts. Throws UnreadableEvent if the event
 * cannot be read.
 */
export function readTokenEvent(event: ClearEvent): RecordedFact {
  const { id, revision, position, time: at, tenantId, actorId, type } = event;
  const fact = { type, clear: readClear(event, schemas, tokenEventVersion) } as TokenEventHeader;
  return { id, revision, position, time: at, tenantId, actorId, ...fact };
}
