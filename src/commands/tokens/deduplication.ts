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
 * Returns whether a request is deduplicated: as the request says, otherwise as the tenant's setting says
 * (docs/contract.md, "When deduplication is in force").
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
  // Threat: an attacker that can write the rows gives this token another's fingerprint. Null means a change between the
  // two reads.
  if (fingerprintHash(claims, token.open.fingerprint) === wanted) return token;
  const again = await vault.rows.findByFingerprint(tenantId, wanted, latestNow(vault.clock));
  if (again === stream) throw new ForgedRow({ of: 'token', name: stream }, 'not_authentic');
  return null;
}

const nothingCharged: ChargedMisses = { ok: true, hits: () => undefined };

/**
 * Charges a request for the distinct values that it is about to deduplicate, before any look-up: a caller that may not
 * read every value in plaintext learns whether some token has each value. The result reports hits; hits on tokens of
 * other applications are refunded. Threat: an application stores a token for each candidate value without
 * deduplication. If hits on these were free, it could repeat its candidates without limit, and would find the token of
 * another application as soon as that token has one of the values.
 */
export async function chargeDeduplication(
  { guesses }: Vault,
  caller: Caller,
  values: number,
): Promise<ChargedMisses | Rejected> {
  return values === 0 || readsEveryValue(caller, null) ? nothingCharged : guesses.chargeMisses(caller, values);
}

/**
 * Charges a guess for each of these tokens that the caller may not read: a deduplication onto such a token shows that
 * the value exists. Returns the rejection once the guesses are used up, for a hit and for a miss alike, and null if the
 * caller may learn the result.
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

/** The fields of the other token for a caller that may not read it (docs/contract.md, "Deduplication on create"). */
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

/** Returns the response to a request that found a living token with the same fingerprint. */
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
