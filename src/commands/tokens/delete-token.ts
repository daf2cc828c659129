import type { Caller } from '../../domain/access/caller.js';
import { transformFor } from '../../domain/access/decide-access.js';
import { decide } from '../../domain/token/decide.js';
import { preconditionHolds } from '../../domain/token/entity-tag.js';
import { isExpired } from '../../domain/token/token-state.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { timesOf } from '../../ports/clock.js';
import { type OpenTokenDeps, openToken } from '../../vault/open-token.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, rejected } from '../../vault/result.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { originOf } from '../event-origin.js';
import { type Conflict, conflict } from '../retry-on-conflict.js';
import { type Attempt, type ChangeTokensDeps, changeTokens, nothingToSeal } from '../write-path.js';
import { finishErasure } from './finish-erasure.js';

/**
 * Deletes a token and destroys its keys (docs/contract.md, "Delete a token"). Throws StoreUnavailable if the keys could
 * not be destroyed in time. In that case, a retry destroys them. Returns `token_not_found` for a deleted token only if
 * all its keys are destroyed. Returns it for an expired token even if its keys still exist, because the sweep records
 * the expiry and destroys them (docs/contract.md, "Expiry").
 */
export async function deleteToken(
  vault: ChangeTokensDeps,
  { caller, traceId }: Pick<RequestContext, 'caller' | 'traceId'>,
  id: string,
  ifMatch: string | null,
): Promise<CommandResult<null>> {
  const { tenantId } = caller;
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const stream = tokenStream(tenantKeys.names, id);
  const target = { tenantId, tenantKeys, streams: [stream], origin: originOf({ caller, traceId }, null) };
  return changeTokens(vault, target, (attempt) => attemptDelete(vault, caller, stream, ifMatch, attempt));
}

async function attemptDelete(
  vault: OpenTokenDeps & Pick<Vault, 'work'>,
  caller: Caller,
  stream: string,
  ifMatch: string | null,
  attempt: Attempt,
): Promise<CommandResult<null> | Conflict> {
  const view = attempt.viewOf(stream);
  const { life, revision } = view.state;
  if (life === null) {
    // An earlier deletion may have failed to destroy the keys. If so, this request destroys them.
    return (await finishErasure(vault, [view])) > 0 ? done(null) : rejected('token_not_found');
  }
  // Other commands and reads use `latestNow`, which can be a little later, because they may show the token. A token that
  // may not have expired yet can still be deleted.
  if (isExpired(life, attempt.at)) return rejected('token_not_found');
  const { containers } = await openToken(vault, view, life);
  if (transformFor(caller, 'token:delete', containers) === null) return rejected('forbidden');
  if (!preconditionHolds(ifMatch, revision)) return rejected('precondition_failed');
  const decided = decide({ kind: 'delete', ...timesOf(vault.clock, attempt.at) }, view.state);
  if (!decided.ok) return rejected(decided.code);
  const sealed = await attempt.seal([{ view, decisions: decided.events, ...nothingToSeal }]);
  return (await attempt.commit(sealed, null)) === conflict ? conflict : done(null);
}
