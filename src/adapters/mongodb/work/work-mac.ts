import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Intent } from './intent.js';

/** Returns the key that authenticates rows. Only the vault has this key. */
export type WorkKey = () => Promise<Uint8Array>;

/** The document that contains the MAC: its collection and its id. */
type Of = { readonly in: 'claims' | 'fingerprints' | 'batches'; readonly id: string };

/**
 * Returns the MAC over the work that a process records before it appends. Threat: an attacker who can write to the
 * database records forged work. A process that settles recorded work appends to the streams named in the work, and
 * deletes the tokens of a batch. The attacker could therefore choose these streams and tokens. The MAC prevents this.
 */
export async function workMac(key: WorkKey, of: Of, facts: unknown): Promise<Buffer> {
  return createHmac('sha256', await key())
    .update(JSON.stringify(['strongroom.work.1', of.in, of.id, facts]))
    .digest();
}

/**
 * Returns true if this work was recorded by the vault. The document can have any shape, so `facts` can throw a
 * TypeError.
 */
export async function isAuthenticWork(key: WorkKey, of: Of, mac: unknown, facts: () => unknown): Promise<boolean> {
  if (!(mac instanceof Uint8Array)) return false;
  let computed: Buffer;
  try {
    computed = await workMac(key, of, facts());
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
  return mac.length === computed.length && timingSafeEqual(mac, computed);
}

export function intentFacts({ stream, tenantId, expectedRevision, eventIds }: Intent): readonly unknown[] {
  return [stream, tenantId, expectedRevision, [...eventIds]];
}
