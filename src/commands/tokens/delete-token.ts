import { transformFor } from '../../domain/access/decide-access.js';
import { decide } from '../../domain/token/decide.js';
import { isExpired } from '../../domain/token/token-state.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { earliestNow } from '../../ports/clock.js';
import type { CommandContext } from '../../vault/command-context.js';
import { KeyLost } from '../../vault/key-lost.js';
import { openToken } from '../../vault/open-token.js';
import { type CommandResult, done, rejected } from '../../vault/result.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';
import { type Attempt, changeToken } from '../change-token.js';
import { originOf } from '../event-origin.js';
import { rowsFollow } from '../rows-follow.js';
import { preconditionHolds } from './precondition.js';

const noPayload = { content: null, cvc: null };

/**
 * Deletes a token and destroys its keys before it returns (docs/contract.md, "Delete a token"). Throws StoreUnavailable if the keys
 * could not be destroyed in time; a repeat finishes that. The token is not found only when nothing is left.
 */
export async function deleteToken(
  vault: Vault,
  { caller, traceId }: Pick<CommandContext, 'caller' | 'traceId'>,
  id: string,
  ifMatch: string | null,
): Promise<CommandResult<null>> {
  const { tenantId } = caller;
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const stream = tokenStream(tenantKeys.names, id);
  const origin = originOf({ caller, traceId }, null);

  return changeToken<CommandResult<null>>(vault, { tenantId, tenantKeys, stream }, origin, async (view, at) => {
    const { life, revision } = view.state;
    if (life === null || isExpired(life, at)) return finishErasure(vault, view);
    const open = await openToken(vault, view, life);
    if (open === null) throw new KeyLost(stream, 'key_destroyed_without_event');
    if (transformFor(caller, 'token:delete', open.containers) === null) {
      return { do: 'answer', answer: rejected('forbidden') };
    }
    if (!preconditionHolds(ifMatch, revision)) return { do: 'answer', answer: rejected('precondition_failed') };
    const decided = decide({ do: 'delete', at, endsUpTo: earliestNow(vault.clock) }, view.state);
    if (!decided.ok) return { do: 'answer', answer: rejected(decided.code) };
    return {
      ...{ do: 'store', decisions: decided.events, payload: noPayload, index: 'keep', distinctFingerprint: null },
      answer: () => done(null),
    };
  });
}

/** Finishes an earlier delete whose keys are still alive; otherwise there is nothing to delete. */
async function finishErasure(vault: Vault, view: TokenView): Promise<Attempt<CommandResult<null>>> {
  const { ended: keys } = view.state;
  // A living row must not name a destroyed key.
  if (keys.length > 0) await rowsFollow(vault, [view]);
  const ended = keys.length === 0 ? 0 : await vault.keys.destroy(keys);
  return { do: 'answer', answer: ended > 0 ? done(null) : rejected('token_not_found') };
}
