import type { Caller } from '../../domain/access/caller.js';
import { maySeeClear, readsEveryToken, readsEveryValue, transformFor } from '../../domain/access/decide-access.js';
import { fingerprintHash } from '../../events/tokens/fingerprint.js';
import { latestNow } from '../../ports/clock.js';
import { type ReadToken, type ReadTokenDeps, readToken } from '../../queries/read-token.js';
import { type AnswerOptions, type TokenAnswer, tokenAnswer } from '../../queries/token-answer.js';
import { ForgedRow } from '../../vault/forged-row.js';
import type { ChargedMisses } from '../../vault/guesses.js';
import type { OpenToken } from '../../vault/open-token.js';
import type { RequestContext } from '../../vault/request-context.js';
import type { Rejected } from '../../vault/result.js';
import { type TenantKeysDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import type { DistinctFingerprint } from '../write-path.js';
import { type Fingerprinted, isSameValue } from './same-value.js';

export type DuplicateDeps = ReadTokenDeps & Pick<Vault, 'expressions'>;

/**
 * Returns true if deduplication is in force for a request. The setting in the request takes precedence over the
 * tenant's setting (docs/contract.md, "When deduplication is in force").
 */
export function deduplicationInForce({ tenantSettings }: Caller, requested: boolean | null | undefined): boolean {
  return requested ?? tenantSettings.deduplicate_tokens === 'true';
}

/**
 * The number of tokens with one fingerprint that deduplication compares. Usually, the first of them is a duplicate.
 * Threat: a caller plants many tokens with the fingerprint of a value. If none of the newest tokens has the value, the
 * request is not deduplicated. It then stores the value a second time at worst, but never loses it.
 */
export const comparedMax = 16;

/** The value for which deduplication looks for an equal token. */
export type SoughtValue = {
  readonly content: Fingerprinted;
  /** The keyed hash of the content's fingerprint. */
  readonly hash: string;
  /** True if the caller has sent all of the content, or may see it in plaintext. */
  readonly seesContent: boolean;
  /**
   * True if a token that expires is no duplicate. The response to a single value to tokenize does not show when the
   * token expires.
   */
  readonly mustLast: boolean;
};

/**
 * The newest token with a value, or null. If there is no such token, no token that is created concurrently may have the
 * `distinctFingerprint`. It is null if the value is not deduplicated.
 */
export type FoundDuplicate =
  | { readonly token: ReadToken; readonly distinctFingerprint: null }
  | { readonly token: null; readonly distinctFingerprint: DistinctFingerprint | null };

/**
 * Returns the newest live token with this value, in decrypted form. Ignores the token of `ownStream`. Throws the same
 * errors as `readToken`.
 */
export async function findDuplicate(
  vault: DuplicateDeps,
  caller: Caller,
  sought: SoughtValue,
  ownStream: string | null,
): Promise<FoundDuplicate> {
  const { tenantId } = caller;
  const { hash } = sought;
  const find = () => vault.rows.findByFingerprint(tenantId, hash, latestNow(vault.clock), comparedMax);
  const streams = await find();
  const { claims } = await tenantKeysOf(vault, tenantId);
  const hasHash = (token: ReadToken | null) =>
    token !== null && fingerprintHash(claims, token.open.fingerprint) === hash;

  /**
   * Reads a token that was found. Returns null if it no longer has the fingerprint. Threat: an attacker who can write
   * the rows gives this token's row the fingerprint of a different token. The fingerprints can also differ because the
   * token changed between the two reads, so the fingerprint is looked up again. If the second lookup finds the stream
   * again, although the token is still the same, the row is forged.
   */
  async function readFound(stream: string): Promise<ReadToken | null> {
    const first = await readToken(vault, tenantId, stream);
    if (first === null || hasHash(first)) return first;
    if (!(await find()).includes(stream)) return null;
    const second = await readToken(vault, tenantId, stream);
    if (second?.view.state.revision === first.view.state.revision) {
      throw new ForgedRow({ of: 'token', name: stream }, 'not_authentic');
    }
    return hasHash(second) ? second : null;
  }

  const others: string[] = [];
  for (const stream of streams) {
    if (stream === ownStream) continue;
    const token = await readFound(stream);
    if (token === null) continue;
    if (await isDuplicate(vault, caller, sought, token.open, token.life.expiresAt)) {
      return { token, distinctFingerprint: null };
    }
    others.push(stream);
  }
  return { token: null, distinctFingerprint: streams.length < comparedMax ? { fingerprintHash: hash, others } : null };
}

/** Returns whether a token with the fingerprint of a value is a duplicate (docs/contract.md, "Equal values"). */
export async function isDuplicate(
  vault: TenantKeysDeps & Pick<Vault, 'expressions' | 'turns'>,
  caller: Caller,
  { content, seesContent, mustLast }: SoughtValue,
  open: OpenToken,
  expiresAt: number | null,
): Promise<boolean> {
  if (mustLast && expiresAt !== null) return false;
  const keys = await tenantKeysOf(vault, caller.tenantId);
  const sees = { stored: maySeeClear(caller, open.containers), content: seesContent };
  const same = isSameValue(vault, keys, content, open, sees);
  return typeof same === 'boolean' ? same : vault.turns.begin(caller.tenantId).run(same);
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
  { guesses }: Pick<Vault, 'guesses'>,
  caller: Caller,
  values: number,
): Promise<ChargedMisses | Rejected> {
  return values === 0 || readsEveryValue(caller, null) ? nothingCharged : guesses.chargeMisses(caller, values);
}

/**
 * Charges one guess for each token in `met` that the caller may not read, because the result of a deduplication reveals
 * that the value of such a token is stored. Returns a rejection if the caller has used up its guesses, even if `met` is
 * empty. Returns null if the caller may see the result.
 */
export type ChargeDeduplicated = (met: readonly ReadToken[]) => Promise<Rejected | null>;

/**
 * Returns the charge for one request. After a conflict, the next attempt usually finds the same tokens again, so it is
 * charged only for the tokens beyond those that the request has already paid for.
 */
export function chargeDeduplicated({ guesses }: Pick<Vault, 'guesses'>, caller: Caller): ChargeDeduplicated {
  let paid = 0;
  return async (met) => {
    if (readsEveryToken(caller)) return null;
    const unread = met.filter(({ open }) => transformFor(caller, 'token:read', open.containers) === null).length;
    if (paid > 0 && unread <= paid) return null;
    const refusal = await guesses.charge(caller, unread - paid);
    paid = unread;
    return refusal;
  };
}

/**
 * The fields of an existing token that a caller without read access gets in the response (docs/contract.md,
 * "Deduplication on create").
 */
const unreadFields = {
  create: ['id', 'type', 'tenant_id', 'fingerprint', 'containers', 'expires_at', '_extras'],
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

/** Returns the response to a request whose deduplication found a live token with the same value. */
export function duplicateAnswer(
  { caller }: Pick<RequestContext, 'caller'>,
  token: ReadToken,
  request: {
    readonly operation: 'create' | 'update';
    readonly cvcIgnored: boolean;
    readonly carriesFingerprint: boolean;
  },
): TokenAnswer {
  const extras = { deduplicated: true, ...(request.cvcIgnored ? { cvc_ignored: true } : {}) };
  return asRead(caller, token, request.operation, { extras, carriesFingerprint: request.carriesFingerprint });
}

/**
 * Returns the response that shows a token as a caller may read it. A caller that may not read it gets only the fields
 * that identify it.
 */
export function asRead(
  caller: Caller,
  token: ReadToken,
  operation: 'create' | 'update',
  options: AnswerOptions,
): TokenAnswer {
  const transform = transformFor(caller, 'token:read', token.open.containers);
  if (transform !== null) return tokenAnswer(caller, token, transform, options);
  return tokenAnswer(caller, token, 'redact', { ...options, fields: unreadFields[operation] });
}
