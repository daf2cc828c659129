import type { Caller } from '../../domain/access/caller.js';
import { type Checked, type FieldErrors, valid } from '../../domain/field-errors.js';
import { errorsUnder } from '../../domain/json-path.js';
import type { Steps } from '../../domain/steps.js';
import type { TokenRequest } from '../../domain/token/draft-token.js';
import type { TokenLife } from '../../domain/token/token-state.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import type { TenantKeys } from '../../keys/key-ring.js';
import type { Random } from '../../ports/random.js';
import type { ReadToken } from '../../queries/read-token.js';
import { type TokenAnswer, tokenAnswer } from '../../queries/token-answer.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, invalidFields, type Rejected, rejected } from '../../vault/result.js';
import { indexKeysOf, type TenantKeysDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import type { ClaimedToken, ClaimResult } from '../../views/finished-claim.js';
import { randomForCommand } from '../derived-random.js';
import { originOf } from '../event-origin.js';
import { claimRequest } from '../idempotency.js';
import { type Conflict, conflict } from '../retry-on-conflict.js';
import {
  type Attempt,
  type ChangeTokensDeps,
  changeTokens,
  type DistinctFingerprint,
  type Target,
  type ViewOf,
} from '../write-path.js';
import { chooseId, mayChooseAgain } from './choose-id.js';
import { type Creation, type CreationWrite, decideCreation, prepareCreation } from './creation.js';
import {
  type ChargeDeduplicated,
  chargeDeduplicated,
  chargeDeduplication,
  comparedMax,
  type DuplicateDeps,
  duplicateAnswer,
  findDuplicate,
  isDuplicate,
  type SoughtValue,
} from './deduplication.js';
import { renderAgain } from './render-again.js';

export type CreateTokensDeps = ChangeTokensDeps &
  DuplicateDeps &
  Pick<Vault, 'claims' | 'cvcRetentionMs' | 'generations' | 'guesses'>;

/** A request for one token, and the location of this request in the request body. */
export type CreateRequest = {
  readonly request: TokenRequest;
  /**
   * The path in the request body to this create request, or to the value to tokenize. An empty path means the whole
   * body.
   */
  readonly path: string;
  /** True if the request consists of a single value. All errors are then reported at `path`. */
  readonly isValue: boolean;
};

/** Creates one token in the same way as `createTokens` (docs/contract.md, "Create a token"). */
export async function createToken(
  vault: CreateTokensDeps,
  context: RequestContext,
  request: TokenRequest,
  misses: 'charged' | 'exempt' = 'charged',
): Promise<CommandResult<TokenAnswer>> {
  const created = await createTokens(vault, context, [{ request, path: '', isValue: false }], misses);
  if (!created.ok) return created.code === 'id_in_use' ? rejected('id_in_use') : created;
  const [token] = created.value;
  if (token === undefined) throw new Error('a creation must return its token');
  return done(token);
}

/**
 * Creates all of the tokens or none of them, and returns them in the order of the requests (docs/contract.md,
 * "Tokenize"). Validates every request before it stores anything. If `misses` is `exempt`, the caller is not charged
 * for deduplications that find nothing. Imports use this option.
 */
export async function createTokens(
  vault: CreateTokensDeps,
  context: RequestContext,
  requests: readonly CreateRequest[],
  misses: 'charged' | 'exempt' = 'charged',
): Promise<CommandResult<readonly TokenAnswer[]>> {
  const { caller } = context;
  const tenantKeys = await tenantKeysOf(vault, caller.tenantId);
  const claim = await claimRequest(vault, tenantKeys, caller.applicationId, context.idempotency);
  if (claim.state === 'in_flight') return rejected('idempotency_in_flight');
  if (claim.state === 'repeat') return renderAllAgain(vault, context, requests, claim.result);
  try {
    const creations = await prepareAll(vault, context, tenantKeys, requests);
    if (!creations.ok) return creations;
    const random = randomForCommand(vault.random, tenantKeys.claims, claim.cmd);
    const command: Command = { context, tenantKeys, cmd: claim.cmd, random };
    const candidates = await chooseIds(vault, command, creations.value);
    if (!candidates.ok) return placed(candidates.rejected, requests[candidates.index]);
    const distinct = creations.value.filter((creation) => creation.deduplicates);
    const values = misses === 'exempt' ? 0 : new Set(distinct.map((creation) => creation.fingerprintHash)).size;
    const charged = await chargeDeduplication(vault, caller, values);
    if (!charged.ok) return charged;
    const created = await createUnderSomeIds(vault, command, candidates.value);
    if (!created.ok)
      return created.index === null ? created.rejected : placed(created.rejected, requests[created.index]);
    charged.hits(created.hits, created.foreignHits);
    return done(created.answers);
  } finally {
    await claim.release();
  }
}

/**
 * Validates and authorizes all requests. If some requests are invalid, returns the errors of all invalid requests. If
 * all requests are valid but the caller may not make some of them, returns `forbidden`.
 */
async function prepareAll(
  vault: Pick<Vault, 'clock' | 'expressions' | 'turns'>,
  context: RequestContext,
  tenantKeys: TenantKeys,
  requests: readonly CreateRequest[],
): Promise<CommandResult<readonly Creation[]>> {
  const creations: Creation[] = [];
  let errors: FieldErrors = {};
  let refused: Rejected | null = null;
  const slices = vault.turns.begin(context.caller.tenantId);
  for (const part of requests) {
    const prepared = await prepareCreation(vault, context, tenantKeys, part.request, slices, part.isValue);
    if (prepared.ok) creations.push(prepared.value);
    else if (prepared.code === 'validation_failed') errors = { ...errors, ...placed(prepared, part).errors };
    else refused ??= prepared;
  }
  if (Object.keys(errors).length > 0) return invalidFields(errors);
  return refused ?? done(creations);
}

function placed({ code, errors }: Rejected, part: CreateRequest | undefined): Rejected {
  if (errors === undefined || part === undefined) return rejected(code);
  if (!part.isValue) return { ok: false, code, errors: errorsUnder(part.path, errors) };
  const messages = Object.values(errors).flat();
  return { ok: false, code, errors: { [part.path === '' ? 'body' : part.path]: messages } };
}

type Command = {
  readonly context: RequestContext;
  readonly tenantKeys: TenantKeys;
  readonly cmd: string | null;
  /** The source of the ids. */
  readonly random: Pick<Random, 'uuid' | 'integer'>;
};

/**
 * A creation and the id to try for it. `taken` is the number of ids that were tried before this one and were in use.
 */
type Candidate = { readonly creation: Creation; readonly id: string; readonly stream: string; readonly taken: number };

/**
 * `hits` is the number of values that already had a stored token. `foreignHits` is the number of these tokens that
 * belong to other applications: the caller's application neither created them nor was the last to change them.
 */
type Created = {
  readonly ok: true;
  readonly answers: readonly TokenAnswer[];
  readonly hits: number;
  readonly foreignHits: number;
};
/** `index` is the index of the failed creation. It is null if the rejection concerns the whole request. */
type Failed = { readonly ok: false; readonly index: number | null; readonly rejected: Rejected };
/**
 * `taken` contains the indexes of the candidates whose ids are in use. A different id can be tried for each of them.
 */
type Taken = { readonly ok: false; readonly taken: readonly number[] };

/** Chooses the first id to try for each creation. Does not look up whether the ids are in use. */
async function chooseIds(
  vault: CreateTokensDeps,
  command: Command,
  creations: readonly Creation[],
): Promise<{ readonly ok: true; readonly value: readonly Candidate[] } | (Failed & { readonly index: number })> {
  const slices = vault.turns.begin(command.context.caller.tenantId);
  const candidates: Candidate[] = [];
  for (const [index, creation] of creations.entries()) {
    const candidate = await slices.run(choosing(vault, command, creation, 0));
    if (!candidate.ok) return { ok: false, index, rejected: invalidFields(candidate.errors) };
    candidates.push(candidate.value);
  }
  return { ok: true, value: candidates };
}

function* choosing(
  vault: CreateTokensDeps,
  { tenantKeys, random }: Command,
  creation: Creation,
  taken: number,
): Steps<Checked<Candidate>> {
  const id = yield* chooseId(vault, creation, random, taken);
  if (!id.ok) return id;
  return valid({ creation, id: id.value, stream: tokenStream(tenantKeys.names, id.value), taken });
}

/**
 * Creates all of the tokens in one unit of work, or none of them. If an id is in use and the request allows another id,
 * retries with another one.
 */
async function createUnderSomeIds(
  vault: CreateTokensDeps,
  command: Command,
  chosen: readonly Candidate[],
): Promise<Created | Failed> {
  const { context, tenantKeys, cmd } = command;
  const { tenantId } = context.caller;
  const charge = chargeDeduplicated(vault, context.caller);
  const slices = vault.turns.begin(tenantId);
  const candidates = [...chosen];
  for (;;) {
    const streams = [...new Set(candidates.map(({ stream }) => stream))];
    // A new random UUID is never in use. A UUID that is derived from an idempotency key can be in use, because an
    // earlier attempt may have used it.
    const areNew = cmd === null && candidates.every(({ creation }) => creation.id === null);
    const origin = originOf(context, cmd);
    const target: Target = { tenantId, tenantKeys, streams, firstFrom: areNew ? 'nothing' : 'log', origin };
    const created = await changeTokens(vault, target, (attempt) =>
      attemptCreate(vault, context, candidates, attempt, charge),
    );
    if (created.ok || 'rejected' in created) return created;
    for (const index of created.taken) {
      const before = candidates[index];
      if (before === undefined) throw new Error('an index must belong to a candidate');
      const next = await slices.run(choosing(vault, command, before.creation, before.taken + 1));
      if (!next.ok) return { ok: false, index, rejected: invalidFields(next.errors) };
      candidates[index] = next.value;
    }
  }
}

async function attemptCreate(
  vault: DuplicateDeps & Pick<Vault, 'cvcRetentionMs' | 'generations'>,
  context: RequestContext,
  candidates: readonly Candidate[],
  attempt: Attempt,
  charge: ChargeDeduplicated,
): Promise<Created | Failed | Taken | Conflict> {
  const { outcomes, taken } = await decideAll(vault, context, candidates, attempt);
  const failed = taken.find((index) => {
    const candidate = candidates[index];
    return candidate === undefined || !mayChooseAgain(candidate.creation, candidate.taken + 1);
  });
  if (taken.length > 0 && failed === undefined) return { ok: false, taken };
  const met = outcomes.flatMap((outcome) => (outcome.kind === 'stored' ? [outcome.token] : []));
  const deduplicates = candidates.some(({ creation }) => creation.deduplicates);
  // The vault deduplicates before it checks whether ids are in use. A response that reports an id in use therefore also
  // reveals that no token has the value, so the caller is charged before that response is sent.
  const refusal = deduplicates ? await charge(met) : null;
  if (refusal !== null) return { ok: false, index: null, rejected: refusal };
  if (failed !== undefined) return { ok: false, index: failed, rejected: idInUse };

  const sealed = await attempt.seal(outcomes.flatMap((outcome) => (outcome.kind === 'new' ? [outcome.write] : [])));
  const claim = { tokens: outcomes.map((outcome) => claimedBy(outcome, sealed.viewOf)) };
  if ((await attempt.commit(sealed, claim)) === conflict) return conflict;
  const hits = new Map(met.map((token) => [token.open.fingerprint, token]));
  return {
    ok: true,
    answers: outcomes.map((outcome) => answerOf(context, outcome, sealed.viewOf)),
    hits: hits.size,
    foreignHits: [...hits.values()].filter(({ life }) => !isWrittenBy(life, context.caller)).length,
  };
}

/** Returns true if the caller's application created the token or was the last to change it. */
function isWrittenBy({ createdBy, modifiedBy }: TokenLife, { applicationId }: Caller): boolean {
  return createdBy === applicationId || modifiedBy === applicationId;
}

const idInUse: Rejected = { ok: false, code: 'id_in_use', errors: { id: ['is in use'] } };

/**
 * The outcome of a creation:
 * - `new`: A new token is created.
 * - `stored`: A token with the same value was already stored.
 * - `twin`: An earlier creation in the same request creates a token with the same value.
 */
type Outcome =
  | New
  | { readonly kind: 'stored'; readonly creation: Creation; readonly token: ReadToken }
  | { readonly kind: 'twin'; readonly creation: Creation; readonly write: CreationWrite };
type New = { readonly kind: 'new'; readonly creation: Creation; readonly write: CreationWrite };

/**
 * Decides all creations. The result is the same as if they were executed one after another. Deduplicates before it
 * checks whether ids are in use.
 */
async function decideAll(
  vault: DuplicateDeps & Pick<Vault, 'cvcRetentionMs' | 'generations'>,
  { caller }: RequestContext,
  candidates: readonly Candidate[],
  { viewOf, at }: Attempt,
): Promise<{ readonly outcomes: readonly Outcome[]; readonly taken: readonly number[] }> {
  const { tenantId, applicationId: createdBy } = caller;
  const keys = await indexKeysOf(vault, tenantId);
  const outcomes: Outcome[] = [];
  const byFingerprint = new Map<string, New[]>();
  const streams = new Set<string>();
  const taken: number[] = [];
  const slices = vault.turns.begin(tenantId);
  for (const [index, { creation, id, stream }] of candidates.entries()) {
    if (index > 0) await slices.pause();
    const { fingerprintHash: hash, deduplicates, draft, isValue } = creation;
    const sought = { content: draft, hash, seesContent: true, mustLast: isValue };
    const before = byFingerprint.get(hash) ?? [];
    const twin = deduplicates ? await findTwin(vault, caller, sought, before) : null;
    const found = deduplicates && twin === null ? await findDuplicate(vault, caller, sought, null) : null;
    if (twin !== null) outcomes.push({ kind: 'twin', creation, write: twin.write });
    else if (found !== null && found.token !== null) outcomes.push({ kind: 'stored', creation, token: found.token });
    else {
      const distinctFingerprint = distinctBeside(before, found?.distinctFingerprint ?? null);
      const place = { id, view: viewOf(stream), at, createdBy, distinctFingerprint };
      const write = streams.has(stream) ? null : decideCreation(vault, keys, creation, place);
      if (write === null) taken.push(index);
      else {
        const created: New = { kind: 'new', creation, write };
        streams.add(stream);
        byFingerprint.set(hash, [created, ...before].slice(0, comparedMax));
        outcomes.push(created);
      }
    }
  }
  return { outcomes, taken };
}

/**
 * Returns the fingerprint that a new token must not share with a token that is created concurrently. `before` contains
 * the earlier creations in the request that have the fingerprint but another value, so the store must not take them for
 * duplicates. If one of them is already guarded by the fingerprint, it guards the whole request.
 */
function distinctBeside(before: readonly New[], fingerprint: DistinctFingerprint | null): DistinctFingerprint | null {
  const isGuarded = before.some(({ write }) => write.distinctFingerprint !== null);
  if (fingerprint === null || isGuarded || before.length === comparedMax) return null;
  return { ...fingerprint, others: [...fingerprint.others, ...before.map(({ write }) => write.view.stream)] };
}

/** Returns the newest of the earlier creations in a request that has this value, or null. */
async function findTwin(
  vault: TenantKeysDeps & Pick<Vault, 'expressions' | 'turns'>,
  caller: Caller,
  sought: SoughtValue,
  before: readonly New[],
): Promise<New | null> {
  for (const earlier of before) {
    const { payload } = earlier.write;
    if (await isDuplicate(vault, caller, sought, payload, earlier.creation.expiresAt)) return earlier;
  }
  return null;
}

/** Returns the part of the claim that a retry needs to render this token again. */
function claimedBy(outcome: Outcome, after: ViewOf): ClaimedToken {
  const { creation } = outcome;
  const { view, life } = outcome.kind === 'stored' ? outcome.token : newToken(outcome.write, after);
  const { createdRevision, contentRevision: carriedContent } = life;
  const claimed = { stream: view.stream, createdRevision, carriedContent };
  return outcome.kind === 'new' ? claimed : { ...claimed, deduplicated: true, cvcIgnored: creation.cvc !== null };
}

/** Returns the token as the caller sees it. */
function answerOf({ caller }: RequestContext, outcome: Outcome, after: ViewOf): TokenAnswer {
  const { cvc, transform } = outcome.creation;
  const token = outcome.kind === 'stored' ? outcome.token : newToken(outcome.write, after);
  return outcome.kind === 'new'
    ? tokenAnswer(caller, token, transform, { recordedAs: 'create', carriesFingerprint: true })
    : duplicateAnswer({ caller }, token, { operation: 'create', cvcIgnored: cvc !== null, carriesFingerprint: true });
}

function newToken({ view: before, payload }: CreationWrite, after: ViewOf): ReadToken {
  const view = after(before.stream);
  if (view.state.life === null) throw new Error('a created token must be live');
  return { view, life: view.state.life, open: payload };
}

/**
 * Renders the response to a retry. The structure of the response follows the body of the retry, so this body must
 * contain as many create requests as the body of the first request.
 */
async function renderAllAgain(
  vault: DuplicateDeps & Pick<Vault, 'guesses'>,
  context: RequestContext,
  requests: readonly CreateRequest[],
  { tokens }: ClaimResult,
): Promise<CommandResult<readonly TokenAnswer[]>> {
  if (tokens.length !== requests.length) return rejected('idempotent_shape_differs');
  const answers: TokenAnswer[] = [];
  for (const [index, { request, isValue }] of requests.entries()) {
    const retry = { operation: 'create', request: isValue ? null : request } as const;
    const answer = await renderAgain(vault, context, retry, tokens[index]);
    if (!answer.ok) return answer;
    answers.push(answer.value);
  }
  return done(answers);
}
