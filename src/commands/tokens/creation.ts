import { transformForCreate } from '../../domain/access/decide-access.js';
import type { Transform } from '../../domain/access/transform.js';
import { decide } from '../../domain/token/decide.js';
import { deriving } from '../../domain/token/derive-content.js';
import { draftToken, type TokenDraft, type TokenRequest } from '../../domain/token/draft-token.js';
import { fingerprintHash, fingerprintOf } from '../../events/tokens/fingerprint.js';
import type { SearchTermKey, TenantKeys } from '../../keys/key-ring.js';
import { codesAhead, timesOf } from '../../ports/clock.js';
import { rowIndexOf } from '../../projections/row-index.js';
import { Decrypted } from '../../vault/decrypted.js';
import { type OpenToken, openTokenOf } from '../../vault/open-token.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, invalidFields, rejected } from '../../vault/result.js';
import { type TenantKeysDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Slices } from '../../vault/turns.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';
import type { DistinctFingerprint, TokenWrite } from '../write-path.js';
import { chooseId } from './choose-id.js';
import { deduplicationInForce } from './deduplication.js';

/** A create request that has been validated and authorized. The token's id has not been chosen yet. */
export type Creation = TokenDraft & {
  readonly fingerprint: string;
  /** The results of the token's search index expressions. */
  readonly indexValues: readonly string[];
  /** A keyed hash of the fingerprint. Tokens with equal fingerprints have equal hashes. */
  readonly fingerprintHash: string;
  /** The transform that is applied to the token in the response to its creator. */
  readonly transform: Transform;
  /** True if deduplication is in force for the request. */
  readonly deduplicates: boolean;
  /** True if the request is a single value to tokenize. The response shows only the token's id. */
  readonly isValue: boolean;
};

/**
 * Checks a create request as far as possible without the token stores, and evaluates the expressions in the request
 * (docs/contract.md, "Fields of a request").
 */
export async function prepareCreation(
  vault: Pick<Vault, 'clock' | 'expressions'>,
  { caller }: Pick<RequestContext, 'caller'>,
  tenantKeys: TenantKeys,
  request: TokenRequest,
  slices: Slices,
  isValue = false,
): Promise<CommandResult<Creation>> {
  const deduplicates = deduplicationInForce(caller, request.deduplicate_token);
  await slices.pause();
  const drafted = draftToken(vault.expressions, request, vault.clock.now());
  if (!drafted.ok) return invalidFields(drafted.errors);
  const transform = transformForCreate(caller, drafted.value.draft.containers);
  if (transform === null) return rejected('forbidden');
  const derived = await slices.run(deriving(vault.expressions, drafted.value.draft));
  if (!derived.ok) return invalidFields(derived.errors);
  const fingerprint = fingerprintOf(tenantKeys.fingerprints, request.type, derived.value.fingerprintValue);
  const hash = fingerprintHash(tenantKeys.claims, fingerprint);
  const { indexValues } = derived.value;
  return done({
    fingerprint,
    indexValues,
    fingerprintHash: hash,
    transform,
    deduplicates,
    isValue,
    ...drafted.value,
  });
}

/** The write that creates a token, with the plaintext to encrypt. */
export type CreationWrite = TokenWrite & { readonly payload: OpenToken };

/**
 * The id of a new token, the view of its stream before the creation, the time of the creation (in ms), the creator, and
 * the fingerprint that the token must not share.
 */
export type CreationPlace = {
  readonly id: string;
  readonly view: TokenView;
  readonly at: number;
  readonly createdBy: string;
  readonly distinctFingerprint: DistinctFingerprint | null;
};

/** Decides a creation against the current view of its stream. Returns null if the id is in use. */
export function decideCreation(
  { cvcRetentionMs, clock }: Pick<Vault, 'cvcRetentionMs' | 'clock'>,
  keys: readonly SearchTermKey[],
  { draft, cvc, expiresAt, fingerprint, fingerprintHash, indexValues }: Creation,
  { id, view, at, createdBy, distinctFingerprint }: CreationPlace,
): CreationWrite | null {
  const command = {
    kind: 'create',
    ...timesOf(clock, at),
    tokenType: draft.type,
    hasCvc: cvc !== null,
    cvcRetentionMs: cvcRetentionMs + codesAhead(clock),
    expiresAt,
  } as const;
  const decided = decide(command, view.state);
  if (!decided.ok) return null;
  const content = { id, ...draft, fingerprint };
  return {
    view,
    decisions: decided.events,
    distinctFingerprint,
    payload: openTokenOf(content, cvc === null ? null : new Decrypted(cvc)),
    index: rowIndexOf(keys, fingerprintHash, content, { createdBy, modifiedBy: null, indexValues }),
  };
}

/**
 * Runs those checks of `createToken` that do not read the token stores. Stores nothing. Threat: a caller uses these
 * checks to find ids in use or stored values without being charged for guesses. For this reason, the checks look up
 * neither ids nor values.
 */
export async function checkCreation(
  vault: TenantKeysDeps & Pick<Vault, 'clock' | 'expressions' | 'random' | 'turns'>,
  context: Pick<RequestContext, 'caller'>,
  request: TokenRequest,
): Promise<CommandResult<null>> {
  const { tenantId } = context.caller;
  const slices = vault.turns.begin(tenantId);
  const prepared = await prepareCreation(vault, context, await tenantKeysOf(vault, tenantId), request, slices);
  if (!prepared.ok) return prepared;
  const id = await slices.run(chooseId(vault, prepared.value, vault.random, 0));
  return id.ok ? done(null) : invalidFields(id.errors);
}
