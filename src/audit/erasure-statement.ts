import { verify } from 'node:crypto';
import { z } from 'zod';
import { lengthPrefixed } from '../events/sealing/length-prefixed.js';
import type { SigningKey } from '../keys/key-ring.js';
import { keyName } from './make-checkpoint.js';

const time = z.string();

const unsigned = z.object({
  strongroom_erasure: z.literal(1),
  log_id: z.string(),
  tenant_id: z.string(),
  token_id: z.string(),
  /** The name of the token's stream. It remains in the log after the id is erased. */
  stream: z.string(),
  stated_at: time,
  lives: z.array(
    z.object({ created_at: time, ended_at: time, ended_by: z.string(), event_id: z.string(), position: z.int() }),
  ),
  keys: z.object({ destroyed: z.int(), last_destroyed_at: time }),
  derived: z.object({
    row: z.enum(['none', 'tombstone']),
    /**
     * The places that were searched, and how many entries were searched in each place. None of these entries belongs to
     * the token.
     */
    looked: z.array(
      z.object({
        kind: z.enum(['row', 'search_term', 'fingerprint', 'deadline', 'timer', 'found_by_id']),
        store: z.string(),
        looked: z.int(),
        found: z.literal(0),
      }),
    ),
  }),
  /**
   * The first checkpoint that signs the event that ended the token's last life. Null if no checkpoint has signed that
   * event yet.
   */
  checkpoint: z.object({ number: z.int(), position: z.int() }).nullable(),
  copies: z.string(),
  signed_by: z.string(),
});

/** A statement about an erased token, signed with the key that also signs checkpoints. Times are in ISO 8601. */
export const erasureStatement = unsigned.extend({ signature: z.string() });

export type ErasureStatement = z.output<typeof erasureStatement>;
export type ErasureFacts = Omit<z.output<typeof unsigned>, 'strongroom_erasure' | 'signed_by'>;

export function signErasure(key: SigningKey, facts: ErasureFacts): ErasureStatement {
  const statement = unsigned.parse({ strongroom_erasure: 1, ...facts, signed_by: keyName(key.publicKey) });
  return { ...statement, signature: key.sign(bytesOf(statement)).toString('base64') };
}

/** Returns true if this key signed exactly this statement. */
export function isSignedErasure({ signature, ...statement }: ErasureStatement, publicKey: string): boolean {
  if (statement.signed_by !== keyName(publicKey)) return false;
  return verify(null, bytesOf(unsigned.parse(statement)), publicKey, Buffer.from(signature, 'base64'));
}

/**
 * Serializes the fields in the order of the schema. The signature therefore does not depend on the order of the fields
 * in a file.
 */
function bytesOf(statement: z.output<typeof unsigned>): Buffer {
  return lengthPrefixed(['strongroom.erasure.1', JSON.stringify(statement)]);
}
