import { maySeeClear, readsEveryToken } from '../../domain/access/decide-access.js';
import { finish } from '../../domain/steps.js';
import { deriveFrom } from '../../domain/token/derive-content.js';
import { draftToken, type TokenRequest } from '../../domain/token/draft-token.js';
import { checkIdSource, evaluateId } from '../../domain/token/fields/id.js';
import { fingerprintOf } from '../../events/tokens/fingerprint.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { readToken } from '../../queries/read-token.js';
import type { TokenAnswer } from '../../queries/token-answer.js';
import { loadToken } from '../../vault/load-token.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, invalidFields } from '../../vault/result.js';
import { type TenantKeysDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { type CreateTokensDeps, createToken, createTokens } from './create-tokens.js';
import { type DuplicateDeps, deduplicationInForce } from './deduplication.js';
import { isSameValue } from './same-value.js';

/** `skipped` means that the requested token already existed. */
export type Imported = 'created' | 'skipped' | 'deduplicated';

/** A create request that contains an id. Because of the id, a retry of the request changes nothing. */
export type ImportRequest = TokenRequest & { readonly id: string };

/**
 * Creates a token if it does not exist yet (ADR 19). If the id is in use, the requested token normally counts as
 * existing. The request is rejected only if the stored token is clearly a different token: its value is different, it
 * was never changed, and the caller may see it in plaintext. If `isDerived` is true, the id was derived from the
 * request, so the values are not compared.
 */
export async function importToken(
  vault: CreateTokensDeps,
  context: RequestContext,
  request: ImportRequest,
  isDerived: boolean,
): Promise<CommandResult<Imported>> {
  if (hasRandomId(vault, request)) {
    return invalidFields({ id: ['must not use a random alias in an import, because the import could not be resumed'] });
  }
  const created = await createToken(vault, context, request, 'exempt');
  if (created.ok) return done(importedBy(vault, request, created.value));
  if (created.code !== 'id_in_use') return created;
  if (isDerived || !(await isAnother(vault, context, request))) return done('skipped');
  return { ...created, errors: { id: ['is in use by a token with another value'] } };
}

/**
 * Creates the tokens of several import requests in one change. Returns null, and stores nothing, if the tokens should be
 * imported one by one instead: if some of them exist already or cannot be created, or if the stores do not commit
 * several tokens in one transaction.
 */
export async function importTogether(
  vault: CreateTokensDeps,
  context: RequestContext,
  requests: readonly ImportRequest[],
): Promise<readonly Imported[] | null> {
  const [first] = requests;
  if (!vault.work.isOneTransaction || first === undefined) return null;
  if (requests.some((request) => hasRandomId(vault, request))) return null;
  if (isChargedForHits(context, requests)) return null;
  // When an interrupted import is repeated, most requests of the earlier attempt have created their tokens. Checking the
  // first token then avoids a change that must fail.
  if (await isInUse(vault, context, first)) return null;
  const whole = requests.map((request) => ({ request, path: '', isValue: false }));
  const created = await createTokens(vault, context, whole, 'exempt');
  if (!created.ok) return null;
  return requests.map((request, index) => {
    const answer = created.value[index];
    if (answer === undefined) throw new Error('a creation must return all of its tokens');
    return importedBy(vault, request, answer);
  });
}

/** Returns true if the request states an id that is in use. Does not evaluate id expressions. */
async function isInUse(
  vault: TenantKeysDeps & Pick<Vault, 'expressions' | 'log'>,
  { caller }: RequestContext,
  { id }: ImportRequest,
): Promise<boolean> {
  const source = checkIdSource(vault.expressions, id);
  if (!source.ok || source.value.kind !== 'given') return false;
  const { names } = await tenantKeysOf(vault, caller.tenantId);
  const { state } = await loadToken(vault, caller.tenantId, tokenStream(names, source.value.id));
  return state.life !== null;
}

/**
 * Returns true if the caller is charged for each deduplication that finds a token that it may not read. An attempt that
 * fails and is repeated one by one would charge it twice.
 */
function isChargedForHits({ caller }: RequestContext, requests: readonly ImportRequest[]): boolean {
  if (readsEveryToken(caller)) return false;
  return requests.some((request) => deduplicationInForce(caller, request.deduplicate_token));
}

function hasRandomId({ expressions }: Pick<Vault, 'expressions'>, { id }: ImportRequest): boolean {
  const source = checkIdSource(expressions, id);
  return source.ok && source.value.kind === 'expression' && source.value.random;
}

/** Returns what a successful creation means for the import. */
function importedBy(
  vault: Pick<Vault, 'clock' | 'expressions'>,
  request: ImportRequest,
  { recordedAs, id }: TokenAnswer,
): Imported {
  if (recordedAs === 'create') return 'created';
  // Deduplication comes before the check for ids in use. The token that deduplication found may therefore be the token
  // that an earlier attempt at this request created.
  return id === idOf(vault, request) ? 'skipped' : 'deduplicated';
}

/**
 * Returns the id that a request contains or that its id expression evaluates to. Returns null if the request is
 * invalid.
 */
function idOf({ expressions, clock }: Pick<Vault, 'clock' | 'expressions'>, request: ImportRequest): string | null {
  const drafted = draftToken(expressions, request, clock.now());
  if (!drafted.ok || drafted.value.id === null) return null;
  const id = finish(evaluateId(expressions, drafted.value.id, drafted.value.draft.data, () => 0));
  return id.ok ? id.value : null;
}

/**
 * Returns true if the token with the requested id has a different value. Threat: a caller that may not read the value in
 * plaintext finds out whether a guessed value is right. For such a caller, the values are not compared, and the result
 * is false.
 */
async function isAnother(vault: DuplicateDeps, context: RequestContext, request: ImportRequest): Promise<boolean> {
  const { caller } = context;
  const tenantKeys = await tenantKeysOf(vault, caller.tenantId);
  const id = idOf(vault, request);
  const read = id === null ? null : await readToken(vault, caller.tenantId, tokenStream(tenantKeys.names, id));
  if (read === null || read.life.modifiedAt !== null) return false;
  const { containers, fingerprint } = read.open;
  if (!maySeeClear(caller, containers)) return false;
  const drafted = draftToken(vault.expressions, request, vault.clock.now());
  if (!drafted.ok) return false;
  const { draft } = drafted.value;
  const derived = deriveFrom(vault.expressions, draft);
  if (!derived.ok) return false;
  if (fingerprintOf(tenantKeys.fingerprints, request.type, derived.value.fingerprintValue) !== fingerprint) return true;
  const same = isSameValue(vault, tenantKeys, draft, read.open, { stored: true, content: true });
  return !(typeof same === 'boolean' ? same : finish(same));
}
