import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Intent } from './intent.js';

/** Returns the key that authenticates rows. Only the vault has it. */
export type WorkKey = () => Promise<Uint8Array>;

/** The document that a MAC belongs to: its collection and its id. */
type Of = { readonly in: 'claims' | 'fingerprints' | 'batches'; readonly id: string };

/**
 * Returns the MAC of work that a process records before it appends. Threat: a process that settles recorded work
 * appends to the streams that it names, and undoes the tokens of a batch. An attacker that can write the rows must not
 * choose these.
 */
export async function workMac(key: WorkKey, of: Of, facts: unknown): Promise<Buffer> {
  return createHmac('sha256', await key())
    .update(JSON.stringify(['strongroom.work.1', of.in, of.id, facts]))
    .digest();
}

/** Returns whether the vault recorded this work. Accepts documents of any shape; `facts` may throw for these. */
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
