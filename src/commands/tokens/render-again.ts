import { maySeeClear, transformFor, transformForCreate } from '../../domain/access/decide-access.js';
import type { Json } from '../../domain/json.js';
import type { TokenRequest } from '../../domain/token/draft-token.js';
import { asStored, type TokenPatch } from '../../domain/token/draft-update.js';
import { mergePatch } from '../../domain/token/fields/merge-patch.js';
import { checkMetadata } from '../../domain/token/fields/metadata.js';
import { typeRules } from '../../domain/token/types/type-rules.js';
import { type ReadToken, readToken } from '../../queries/read-token.js';
import { type TokenAnswer, tokenAnswer } from '../../queries/token-answer.js';
import { loadToken } from '../../vault/load-token.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, rejected } from '../../vault/result.js';
import { type TenantKeysDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import type { ClaimedToken } from '../../views/finished-claim.js';
import { asRead, type DuplicateDeps, duplicateAnswer } from './deduplication.js';
import { finishErasure } from './finish-erasure.js';
import { expressionOf, type Fingerprinted, fingerprintOfContent } from './same-value.js';

/** A retry. `request` is null for a single value to tokenize, because the response shows only the token's id. */
type Retry =
  | { readonly operation: 'create'; readonly request: TokenRequest | null }
  | { readonly operation: 'update'; readonly patch: TokenPatch };

/**
 * Returns the token created, changed or found by the first request with this idempotency key. Rejects the retry if that
 * token has been deleted or has expired, even if a new token has the same id.
 */
export async function renderAgain(
  vault: DuplicateDeps & Pick<Vault, 'guesses'>,
  context: RequestContext,
  retry: Retry,
  claimed: ClaimedToken | undefined,
): Promise<CommandResult<TokenAnswer>> {
  const { operation } = retry;
  const { caller } = context;
  const read = claimed === undefined ? null : await readToken(vault, caller.tenantId, claimed.stream);
  if (read === null || read.life.createdRevision !== claimed?.createdRevision)
    return rejected('idempotent_result_gone');
  const { deduplicated = false, cvcIgnored = false } = claimed;
  // Threat: an attacker who can write the rows changes the claim so that it names a token that the caller did not
  // create and may not read.
  if (operation === 'create' && !deduplicated && read.life.createdBy !== caller.applicationId) {
    return rejected('idempotent_result_gone');
  }
  const isUnchanged = read.life.contentRevision === claimed.carriedContent;
  // Threat: the caller uses the retry to learn the fingerprint of a value that another caller stored after the first
  // request. The response contains the fingerprint only if the value is still the same.
  const carriesFingerprint = isUnchanged && (await mayShowFingerprint(vault, context, read, retry));
  if (deduplicated) {
    return done(duplicateAnswer(context, read, { operation, cvcIgnored, carriesFingerprint }));
  }
  // The first response may have been 503 because the keys of replaced data could not be destroyed. If so, this retry
  // destroys them.
  await finishErasure(vault, [await loadToken(vault, caller.tenantId, claimed.stream)]);
  const { containers } = read.open;
  const transform =
    operation === 'create' ? transformForCreate(caller, containers) : transformFor(caller, 'token:update', containers);
  if (transform === null) return rejected('forbidden');
  // Threat: a caller that may create tokens but not read them retries a create, and reads what other callers have stored
  // in the token since.
  if (operation === 'create' && !isUnchanged)
    return done(asRead(caller, read, operation, { carriesFingerprint: false }));
  return done(tokenAnswer(caller, read, transform, { carriesFingerprint }));
}

/**
 * Returns true if the response to a retry may contain the fingerprint because of the values in the retry's body.
 *
 * Threat: a caller guesses the idempotency key of another person who uses the same application, and learns the
 * fingerprint of a value that it did not send. The body must therefore have this fingerprint. Threat: the caller sends
 * candidates until the response contains the fingerprint. A body with another fingerprint is therefore a guess. If the
 * guesses are used up, the response contains no fingerprint, regardless of the body.
 */
async function mayShowFingerprint(
  vault: TenantKeysDeps & Pick<Vault, 'expressions' | 'guesses' | 'turns'>,
  { caller }: RequestContext,
  read: ReadToken,
  retry: Retry,
): Promise<boolean> {
  if (maySeeClear(caller, read.open.containers)) return true;
  const sent = sentBy(retry, read);
  if (sent === null) return false;
  const keys = await tenantKeysOf(vault, caller.tenantId);
  const fingerprint = await vault.turns.begin(caller.tenantId).run(fingerprintOfContent(vault, keys, sent));
  const isSame = fingerprint === read.open.fingerprint;
  const exhausted = await vault.guesses.charge(caller, isSame ? 0 : 1);
  return isSame && exhausted === null;
}

/** Returns what the fingerprint of a retry's body is computed from, or null for a single value to tokenize. */
function sentBy(retry: Retry, { open, life }: ReadToken): Fingerprinted | null {
  if (retry.operation === 'update') {
    const { data, metadata, fingerprint_expression: expression } = retry.patch;
    const type = life.tokenType;
    return {
      type,
      data: asStored(typeRules[type], data) ?? null,
      metadata: metadataOf(metadata),
      fingerprint_expression: expression ?? expressionOf(open),
    };
  }
  if (retry.request === null) return null;
  const { type, data, metadata, fingerprint_expression: expression } = retry.request;
  const rule = typeRules[type];
  const checked = rule.validate(data);
  return {
    type,
    data: checked.ok ? checked.value.data : null,
    metadata: metadataOf(metadata),
    fingerprint_expression: expression ?? rule.defaultFingerprintExpression,
  };
}

function metadataOf(sent: Json | undefined): Fingerprinted['metadata'] {
  if (sent === undefined || sent === null) return null;
  // A null in the metadata of a patch removes a key.
  const checked = checkMetadata(mergePatch({}, sent));
  return checked.ok ? checked.value : null;
}
