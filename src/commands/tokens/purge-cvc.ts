import { transformFor } from '../../domain/access/decide-access.js';
import { decide } from '../../domain/token/decide.js';
import { isExpired } from '../../domain/token/token-state.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { earliestNow, latestNow } from '../../ports/clock.js';
import type { CommandContext } from '../../vault/command-context.js';
import { KeyLost } from '../../vault/key-lost.js';
import { openToken } from '../../vault/open-token.js';
import { type CommandResult, done, invalidFields, rejected } from '../../vault/result.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { changeToken } from '../change-token.js';
import { originOf } from '../event-origin.js';
import { preconditionHolds } from './precondition.js';

/**
 * Purges a card's cvc at once, for use right after authorisation; also done when there is none (docs/contract.md,
 * "Purge a cvc").
 */
export async function purgeCvc(
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
    if (life === null || isExpired(life, latestNow(vault.clock)))
      return { do: 'answer', answer: rejected('token_not_found') };
    const open = await openToken(vault, view, life);
    if (open === null) throw new KeyLost(stream, 'key_destroyed_without_event');
    if (transformFor(caller, 'token:update', open.containers) === null) {
      return { do: 'answer', answer: rejected('forbidden') };
    }
    if (!preconditionHolds(ifMatch, revision)) return { do: 'answer', answer: rejected('precondition_failed') };
    if (life.tokenType !== 'card') {
      return { do: 'answer', answer: invalidFields({ type: ['only a card has a cvc'] }) };
    }
    const decided = decide({ do: 'purge_cvc', at, endsUpTo: earliestNow(vault.clock), reason: 'request' }, view.state);
    if (!decided.ok) return { do: 'answer', answer: rejected(decided.code) };
    if (decided.events.length === 0) {
      // A purge whose key could not be destroyed yet is finished by its repeat.
      if (view.state.ended.length > 0) await vault.keys.destroy(view.state.ended);
      return { do: 'answer', answer: done(null) };
    }
    return {
      ...{ do: 'store', decisions: decided.events, payload: { content: null, cvc: null } },
      ...{ index: 'keep', distinctFingerprint: null },
      answer: () => done(null),
    };
  });
}
