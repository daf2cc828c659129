import type { Caller } from '../../domain/access/caller.js';
import { transformFor } from '../../domain/access/decide-access.js';
import { decide } from '../../domain/token/decide.js';
import { preconditionHolds } from '../../domain/token/entity-tag.js';
import { isExpired } from '../../domain/token/token-state.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { latestNow, timesOf } from '../../ports/clock.js';
import { type OpenTokenDeps, openToken } from '../../vault/open-token.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, invalidFields, rejected } from '../../vault/result.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import { originOf } from '../event-origin.js';
import { type Conflict, conflict } from '../retry-on-conflict.js';
import { type Attempt, type ChangeTokensDeps, changeTokens, nothingToSeal } from '../write-path.js';

/**
 * Purges a card's cvc immediately. A caller can do this as soon as a payment is authorized. Succeeds even if the card
 * has no cvc (docs/contract.md, "Purge a cvc").
 */
export async function purgeCvc(
  vault: ChangeTokensDeps,
  { caller, traceId }: Pick<RequestContext, 'caller' | 'traceId'>,
  id: string,
  ifMatch: string | null,
): Promise<CommandResult<null>> {
  const { tenantId } = caller;
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const stream = tokenStream(tenantKeys.names, id);
  const target = { tenantId, tenantKeys, streams: [stream], origin: originOf({ caller, traceId }, null) };
  return changeTokens(vault, target, (attempt) => attemptPurge(vault, caller, stream, ifMatch, attempt));
}

async function attemptPurge(
  vault: OpenTokenDeps,
  caller: Caller,
  stream: string,
  ifMatch: string | null,
  attempt: Attempt,
): Promise<CommandResult<null> | Conflict> {
  const view = attempt.viewOf(stream);
  const { life, revision } = view.state;
  if (life === null || isExpired(life, latestNow(vault.clock))) return rejected('token_not_found');
  const { containers } = await openToken(vault, view, life);
  if (transformFor(caller, 'token:update', containers) === null) return rejected('forbidden');
  if (!preconditionHolds(ifMatch, revision)) return rejected('precondition_failed');
  if (life.tokenType !== 'card') return invalidFields({ type: ['only a card has a cvc'] });
  const command = { kind: 'purge_cvc', reason: 'request', ...timesOf(vault.clock, attempt.at) } as const;
  const decided = decide(command, view.state);
  if (!decided.ok) return rejected(decided.code);
  // If the card has no cvc, no event is appended. An earlier purge may have failed to destroy the cvc's key. If so, the
  // commit destroys it.
  const sealed = await attempt.seal([{ view, decisions: decided.events, ...nothingToSeal }]);
  return (await attempt.commit(sealed, null)) === conflict ? conflict : done(null);
}
