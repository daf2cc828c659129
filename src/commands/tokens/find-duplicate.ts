import type { Caller } from '../../domain/access/caller.js';
import { fingerprintHash } from '../../events/tokens/fingerprint.js';
import { latestNow } from '../../ports/clock.js';
import { type ReadToken, readToken } from '../../queries/read-token.js';
import { ForgedRow } from '../../vault/forged-row.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';

/**
 * Returns whether a request is deduplicated: as the request says, otherwise as the tenant's setting says (docs/contract.md, "When
 * deduplication is in force").
 */
export function deduplicationInForce({ tenantSettings }: Caller, requested: boolean | null | undefined): boolean {
  return requested ?? tenantSettings.deduplicate_tokens === 'true';
}

/**
 * Returns the other living token with this keyed fingerprint, decrypted, or null. Throws the same errors as
 * `readToken`.
 */
export async function findDuplicate(
  vault: Vault,
  tenantId: string,
  wanted: string,
  ownStream: string | null,
): Promise<ReadToken | null> {
  const stream = await vault.rows.findByFingerprint(tenantId, wanted, latestNow(vault.clock));
  if (stream === null || stream === ownStream) return null;
  const token = await readToken(vault, tenantId, stream);
  if (token === null) return null;
  const { claims } = await tenantKeysOf(vault, tenantId);
  // Threat: an attacker that can write the rows gives this token another's fingerprint. Null means a change between the two reads.
  if (fingerprintHash(claims, token.open.fingerprint) === wanted) return token;
  const again = await vault.rows.findByFingerprint(tenantId, wanted, latestNow(vault.clock));
  if (again === stream) throw new ForgedRow({ of: 'token', name: stream }, 'not_authentic');
  return null;
}
