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
 * Returns true if deduplication is in force for a request. The setting in the request takes precedence over the
 * tenant's setting (docs/contract.md, "When deduplication is in force").
 */
export function deduplicationInForce({ tenantSettings }: Caller, requested: boolean | null | undefined): boolean {
  return requested ?? tenantSettings.deduplicate_tokens === 'true';
}

/**
 * Returns the live token that has this keyed fingerprint, in decrypted form. Returns null if there is no such token, or
 * if it is the token of `ownStream`. Throws the same errors as `readToken`.
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
  // Threat: an attacker who can write the rows gives this token's row the fingerprint of a different token. The
  // fingerprints can also differ because the token changed between the two reads, so the fingerprint is looked up
  // again. If the second lookup finds a different stream or no stream, the token was changed. If it finds this stream
  // again, the row is forged.
  if (fingerprintHash(claims, token.open.fingerprint) === wanted) return token;
  const again = await vault.rows.findByFingerprint(tenantId, wanted, latestNow(vault.clock));
  if (again === stream) throw new ForgedRow({ of: 'token', name: stream }, 'not_authentic');
  return null;
}

const nothingCharged: ChargedMisses = { ok: true, hits: () => undefined };

/**
 * Charges a caller for the distinct values deduplicated by its request, before the vault looks them up. Without the
 * charge, a caller that cannot read every value in plaintext could find out for free which values are stored. The
 * result has a function that reports hits. Hits on tokens of other applications are refunded.
 *
 * Threat: an application stores a token for each candidate value without deduplication. If hits on its own tokens were
 * free, the application could try all candidates without limit. It would notice as soon as another application stores a
 * token with one of these values, because the lookup returns the newest token.
 */
export async function chargeDeduplication(
  { guesses }: Vault,
  caller: Caller,
  values: number,
): Promise<ChargedMisses | Rejected> {
  return values === 0 || readsEveryValue(caller, null) ? nothingCharged : guesses.chargeMisses(caller, values);
}

/** Returns true if the caller may read every token, and therefore learns nothing new from a deduplication. */
export function readsEveryToken(caller: Caller): boolean {
  return transformFor(caller, 'token:read', ['/']) !== null;
}

/**
 * Charges one guess for each token in `met` that the caller may not read, because the result of a deduplication reveals
 * that the value of such a token is stored. Returns a rejection if the caller has used up its guesses, even if `met` is
 * empty. Returns null if the caller may see the result.
 */
export async function chargeDeduplicated(
  { guesses }: Vault,
  caller: Caller,
  met: readonly ReadToken[],
): Promise<Rejected | null> {
  if (readsEveryToken(caller)) return null;
  const unread = met.filter(({ open }) => transformFor(caller, 'token:read', open.containers) === null).length;
  return guesses.charge(caller, unread);
}

/**
 * The fields of an existing token that a caller without read access gets in the response (docs/contract.md,
 * "Deduplication on create").
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

/** Returns the response to a request whose deduplication found a live token with the same fingerprint. */
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
