import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '../../domain/access/caller.js';
import { transformFor } from '../../domain/access/decide-access.js';
import { decide } from '../../domain/token/decide.js';
import { isExpired } from '../../domain/token/token-state.js';
import type { TokenView } from '../../projections/token-view.js';
import { changeTokens, type TokenWrite } from '../change-tokens.js';
import type { CommandContext } from '../command-context.js';
import { KeyLost } from '../key-lost.js';
import { openToken } from '../open-token.js';
import { tenantKeysOf } from '../tenant-keys.js';
import type { Vault } from '../vault.js';

/** How many tokens are opened before other requests have their turn. */
const openedPerTurn = 50;

/** `refused` counts living tokens that the caller may not delete. */
export type Deletion = { readonly deleted: number; readonly refused: number };

type Sorted = { readonly writes: readonly TokenWrite[]; readonly gone: readonly TokenView[]; readonly refused: number };

/**
 * Deletes the tokens of these streams with one unit of work and destroys the keys of all before it answers (contract,
 * section 9). Unknown ones count in nothing. Throws StoreUnavailable when keys could not be destroyed yet; the repeat
 * finishes that and counts the tokens whose erasure it finished.
 */
export async function deleteTokens(
  vault: Vault,
  { caller, traceId }: Pick<CommandContext, 'caller' | 'traceId'>,
  streams: ReadonlySet<string>,
): Promise<Deletion> {
  const { tenantId, applicationId } = caller;
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const at = vault.clock.now();
  const origin = { actorId: applicationId, at, traceId, cmd: null };
  const targets = { tenantId, tenantKeys, streams };
  const { gone, ...deletion } = await changeTokens(vault, targets, origin, async (viewOf) => {
    const { writes, gone, refused } = await sort(vault, caller, [...streams].map(viewOf), at);
    return { do: 'store', writes, claim: () => null, answer: () => ({ deleted: writes.length, refused, gone }) };
  });
  const finished = await finishErasure(vault, gone);
  return { deleted: deletion.deleted + finished, refused: deletion.refused };
}

async function sort(vault: Vault, caller: Caller, views: readonly TokenView[], at: number): Promise<Sorted> {
  const writes: TokenWrite[] = [];
  const gone: TokenView[] = [];
  let refused = 0;
  for (const [index, view] of views.entries()) {
    if (index % openedPerTurn === openedPerTurn - 1) await nextTurn();
    const { life } = view.state;
    if (life === null || isExpired(life, at)) {
      gone.push(view);
      continue;
    }
    const open = await openToken(vault, view, life);
    if (open === null) throw new KeyLost(view.stream, 'key_destroyed_without_event');
    const decided = decide({ do: 'delete', at }, view.state);
    if (!decided.ok || transformFor(caller, 'token:delete', open.content.reveal().containers) === null) refused += 1;
    else writes.push({ view, decisions: decided.events, ...nothingToSeal });
  }
  return { writes, gone, refused };
}

const nothingToSeal = {
  payload: { content: null, cvc: null },
  index: 'keep',
  distinctFingerprint: null,
} as const;

/** Earlier deletes whose keys still live are finished here; answers of how many tokens. One checkpoint serves all. */
async function finishErasure({ keys }: Vault, gone: readonly TokenView[]): Promise<number> {
  const unfinished = gone.filter(({ state }) => state.ended.length > 0);
  const destroyed = await Promise.all(unfinished.map(({ state }) => keys.destroy(state.ended)));
  return destroyed.filter((count) => count > 0).length;
}
