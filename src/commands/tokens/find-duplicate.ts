import type { Caller } from '../../domain/access/caller.js';
import { latestNow } from '../../ports/clock.js';
import type { Vault } from '../vault.js';
import { type ReadToken, readToken } from './read-token.js';

/** Whether a request is deduplicated: what it says itself, else the setting of the tenant (contract, section 3). */
export function deduplicationInForce({ tenantSettings }: Caller, requested: boolean | null | undefined): boolean {
  return requested ?? tenantSettings.deduplicate_tokens === 'true';
}

/** The other living token with this keyed fingerprint, opened; null: there is none. */
export async function findDuplicate(
  vault: Vault,
  tenantId: string,
  fingerprintHash: string,
  ownStream: string | null,
): Promise<ReadToken | null> {
  const stream = await vault.rows.findByFingerprint(tenantId, fingerprintHash, latestNow(vault.clock));
  return stream === null || stream === ownStream ? null : readToken(vault, tenantId, stream);
}
