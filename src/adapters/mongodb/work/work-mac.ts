import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Intent } from './intent.js';

/** Returns the key that authenticates rows. Only the vault has it. */
export type WorkKey = () => Promise<Uint8Array>;

/** The collection and id of the document that a MAC belongs to. */
type Of = { readonly in: 'claims' | 'fingerprints' | 'batches'; readonly id: string };

/**
 * Returns the MAC over work that a process records before it appends. Threat: a process that settles recorded work
 * appends to the streams that the work names, and deletes the tokens of a batch. An attacker with write access to the
 * database must not be able to choose these streams and tokens.
 */
export async function workMac(key: WorkKey, of: Of, facts: unknown): Promise<Buffer> {
  return createHmac('sha256', await key())
    .update(JSON.stringify(['strongroom.work.1', of.in, of.id, facts]))
    .digest();
}

/** Returns true if the vault recorded this work. The document may have any shape, so `facts` may throw a TypeError. */
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
