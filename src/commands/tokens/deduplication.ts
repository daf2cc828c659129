import type { Caller } from '../../domain/access/caller.js';
import { readsEveryValue, transformFor } from '../../domain/access/decide-access.js';
import { fingerprintHash } from '../../events/tokens/fingerprint.js';
import { latestNow } from '../../ports/clock.js';
import { type ReadToken, readToken } from '../../queries/read-token.js';
import { type TokenAnswer, tokenAnswer } from '../../queries/token-answer.js';
import type { CommandContext } from '../../vault/command-context.js';
import { ForgedRow } from '../../vault/forged-row.js';
import type { ChargedMisses } from '../../vault/guesses.js';
import type { Rejected } from '../../vault/result.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';

/**
 * Returns whether a request is deduplicated. The request's own setting takes precedence over the tenant's
 * (docs/contract.md, "When deduplication is in force").
 */
export function deduplicationInForce({ tenantSettings }: Caller, requested: boolean | null | undefined): boolean {
  return requested ?? tenantSettings.deduplicate_tokens === 'true';
}

/**
 * Returns another live token with this keyed fingerprint, decrypted, or null. Throws the same errors as `readToken`.
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
  // Threat: an attacker that can write the rows gives this token the fingerprint of another. If a second look-up finds
  // a different stream, the token merely changed between the two reads.
  if (fingerprintHash(claims, token.open.fingerprint) === wanted) return token;
  const again = await vault.rows.findByFingerprint(tenantId, wanted, latestNow(vault.clock));
  if (again === stream) throw new ForgedRow({ of: 'token', name: stream }, 'not_authentic');
  return null;
}

const nothingCharged: ChargedMisses = { ok: true, hits: () => undefined };

/**
 * Charges a caller for the distinct values that its request deduplicates, before any look-up. A caller that may not
 * read every value in plaintext would otherwise learn for free whether a token has each value. Report hits through the
 * result; hits on tokens of other applications are refunded. Threat: an application stores a token for each candidate
 * value without deduplication. If hits on its own tokens were free, it could try its candidates without limit, and
 * would notice as soon as another application stores a token with one of them.
 */
export async function chargeDeduplication(
  { guesses }: Vault,
  caller: Caller,
  values: number,
): Promise<ChargedMisses | Rejected> {
  return values === 0 || readsEveryValue(caller, null) ? nothingCharged : guesses.chargeMisses(caller, values);
}

/**
 * Charges one guess for each of these tokens that the caller may not read, because deduplication reveals that the value
 * exists. Returns a rejection if the guesses are used up, for hits and misses alike. Returns null if the caller may
 * learn the result.
 */
export async function refuseDeduplication(
  { guesses }: Vault,
  caller: Caller,
  met: readonly ReadToken[],
): Promise<Rejected | null> {
  // A caller that may read every token learns nothing more from a deduplication.
  if (transformFor(caller, 'token:read', ['/']) !== null) return null;
  const unread = met.filter(({ open }) => transformFor(caller, 'token:read', open.containers) === null).length;
  return unread === 0 ? guesses.refusal(caller) : guesses.charge(caller, unread);
}

/**
 * The fields of the existing token that a caller without read access gets (docs/contract.md, "Deduplication on
 * create").
 */
const unreadFields = {
  create: ['id', 'type', 'tenant_id', 'fingerprint', 'containers', '_extras'],
  update: [
    'id',
    'type',
    'tenant_id',
    'fingerprint',
    'containers',
    'expires_at',
    'created_by',
    'created_at',
    'modified_by',
    'modified_at',
    '_extras',
  ],
} as const;

/** Returns the response to a request for which a live token with the same fingerprint was found. */
export function duplicateAnswer(
  { caller }: Pick<CommandContext, 'caller'>,
  token: ReadToken,
  request: {
    readonly operation: 'create' | 'update';
    readonly cvcIgnored: boolean;
    readonly carriesFingerprint: boolean;
  },
): TokenAnswer {
  const extras = { deduplicated: true, ...(request.cvcIgnored ? { cvc_ignored: true } : {}) };
  const options = { extras, carriesFingerprint: request.carriesFingerprint };
  const transform = transformFor(caller, 'token:read', token.open.containers);
  if (transform !== null) return tokenAnswer(caller, token, transform, options);
  return tokenAnswer(caller, token, 'redact', { ...options, fields: unreadFields[request.operation] });
}
