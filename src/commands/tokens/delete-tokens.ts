import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '../../domain/access/caller.js';
import { transformFor } from '../../domain/access/decide-access.js';
import { decide } from '../../domain/token/decide.js';
import { isExpired, type TokenLife } from '../../domain/token/token-state.js';
import { timesOf } from '../../ports/clock.js';
import { isDamage } from '../../vault/for-tenants.js';
import { isBehindLog } from '../../vault/load-token.js';
import { type OpenToken, type OpenTokenDeps, openToken } from '../../vault/open-token.js';
import type { RequestContext } from '../../vault/request-context.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';
import { originOf } from '../event-origin.js';
import { conflict } from '../retry-on-conflict.js';
import { type Attempt, type ChangeTokensDeps, changeTokens, nothingToSeal, type TokenWrite } from '../write-path.js';
import { finishErasure, finishIfMany } from './finish-erasure.js';

export type DeleteTokensDeps = ChangeTokensDeps & Pick<Vault, 'unfinishedErasures'>;

/**
 * The number of tokens in one unit of work. All these tokens are in memory at the same time, and each has up to 512 KiB
 * of ciphertext.
 */
const tokensAtOnce = 100;

/** A token to delete. If `revision` is set, the token is deleted only if it still has that revision. */
export type DeleteTarget = { readonly stream: string; readonly revision: number | null };

/** Checks a token that was read from the log and decrypted. Throws if this token must not be deleted. */
type Expect = (stream: string, token: { readonly open: OpenToken; readonly life: TokenLife }) => void;

/**
 * `refused` is the number of live tokens that the caller may not delete. `changed` is the number of live tokens that no
 * longer have the expected revision.
 */
export type Deletion = { readonly deleted: number; readonly refused: number; readonly changed: number };

/**
 * Deletes tokens and destroys all their keys (docs/contract.md, "Delete many tokens"). Tokens that do not exist are not
 * counted. Throws StoreUnavailable if a store fails, or if keys could not be destroyed in time. Throws KeyLost or
 * ForgedRow if a token is damaged, but only after the other tokens were deleted. When it throws, some of the tokens may
 * already be deleted. A retry deletes the remaining tokens, and its count includes the tokens whose erasure it finishes.
 */
export async function deleteTokens(
  vault: DeleteTokensDeps,
  context: Pick<RequestContext, 'caller' | 'traceId'>,
  tokens: readonly DeleteTarget[],
  expect: Expect = () => undefined,
): Promise<Deletion> {
  const { tenantId } = context.caller;
  let sum: Deletion = { deleted: 0, refused: 0, changed: 0 };
  const damages: unknown[] = [];
  for (let start = 0; start < tokens.length; start += tokensAtOnce) {
    const some = tokens.slice(start, start + tokensAtOnce);
    await finishIfMany(vault, tenantId);
    const { deleted, refused, changed, damaged } = await deleteAtOnce(vault, context, some, expect);
    damages.push(...damaged);
    sum = { deleted: sum.deleted + deleted, refused: sum.refused + refused, changed: sum.changed + changed };
    await nextTurn();
  }
  if (damages.length > 0) throw damages[0];
  return sum;
}

/** Deletes these tokens. If this fails, remembers the deletions that were begun, so that a retry finishes them. */
async function deleteAtOnce(
  vault: DeleteTokensDeps,
  { caller, traceId }: Pick<RequestContext, 'caller' | 'traceId'>,
  tokens: readonly DeleteTarget[],
  expect: Expect,
): Promise<Deletion & Pick<Sorted, 'damaged'>> {
  const { tenantId } = caller;
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const streams = [...new Set(tokens.map(({ stream }) => stream))];
  const target = { tenantId, tenantKeys, streams, origin: originOf({ caller, traceId }, null) };
  /** The streams whose deletion is in the log, or may be. */
  const begun = new Set<string>();
  try {
    const { writes, gone, landed, refused, changed, damaged } = await changeTokens<Sorted>(
      vault,
      target,
      async (attempt) => {
        const sorted = await sort(vault, { caller, tokens, expect }, attempt);
        const sealed = await attempt.seal(sorted.writes);
        for (const { stream } of [...sorted.writes.map(({ view }) => view), ...sorted.gone]) begun.add(stream);
        return (await attempt.commit(sealed, null)) === conflict ? conflict : sorted;
      },
    );
    const finished = await finishErasure(
      vault,
      gone.filter(({ stream }) => !landed.has(stream)),
    );
    vault.unfinishedErasures.forget(tenantId, begun);
    return { deleted: landed.size + writes.length + finished, refused, changed, damaged };
  } catch (error) {
    vault.unfinishedErasures.remember(tenantId, begun);
    throw error;
  }
}

type Sorted = {
  readonly writes: readonly TokenWrite[];
  /** The deleted tokens. Earlier deletions may have failed to destroy their keys. */
  readonly gone: readonly TokenView[];
  /** The streams that earlier attempts deleted. */
  readonly landed: ReadonlySet<string>;
  readonly refused: number;
  readonly changed: number;
  /** Why the damaged tokens cannot be deleted. */
  readonly damaged: readonly unknown[];
};

type Deleting = {
  readonly caller: Caller;
  readonly tokens: readonly DeleteTarget[];
  readonly expect: Expect;
};

async function sort(
  vault: OpenTokenDeps & Pick<Vault, 'log' | 'turns'>,
  { caller, tokens, expect }: Deleting,
  { viewOf, at, landed }: Attempt,
): Promise<Sorted> {
  const slices = vault.turns.begin(caller.tenantId);
  const writes: TokenWrite[] = [];
  const gone: TokenView[] = [];
  const damaged: unknown[] = [];
  let [refused, changed] = [0, 0];
  for (const { stream, revision } of tokens) {
    await slices.pause();
    const view = viewOf(stream);
    const { life, ended } = view.state;
    if (life === null && ended.length > 0) gone.push(view);
    const decided = decide({ kind: 'delete', ...timesOf(vault.clock, at) }, view.state);
    if (life === null || isExpired(life, at) || !decided.ok) continue;
    if (revision !== null && revision !== view.state.revision) {
      changed += 1;
      continue;
    }
    try {
      if (await mayDelete(vault, caller, view, life, expect))
        writes.push({ view, decisions: decided.events, ...nothingToSeal });
      else refused += 1;
    } catch (error) {
      // If the token was changed or deleted in the meantime, `changeTokens` loads it again.
      if (!isDamage(error) || (await isBehindLog(vault, view))) throw error;
      damaged.push(error);
    }
  }
  return { writes, gone, landed, refused, changed, damaged };
}

async function mayDelete(
  vault: OpenTokenDeps,
  caller: Caller,
  view: TokenView,
  life: TokenLife,
  expect: Expect,
): Promise<boolean> {
  const open = await openToken(vault, view, life);
  expect(view.stream, { open, life });
  return transformFor(caller, 'token:delete', open.containers) !== null;
}
