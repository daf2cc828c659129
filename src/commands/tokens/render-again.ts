import { transformFor, transformForCreate } from '../../domain/access/decide-access.js';
import { readToken } from '../../queries/read-token.js';
import { type TokenAnswer, tokenAnswer } from '../../queries/token-answer.js';
import type { CommandContext } from '../../vault/command-context.js';
import { loadToken } from '../../vault/load-token.js';
import { type CommandResult, done, rejected } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';
import type { ClaimedToken } from '../../views/finished-claim.js';
import { ensureProjected } from '../write-path.js';
import { duplicateAnswer } from './deduplication.js';

/**
 * Returns the token created, changed or found by the first request with this idempotency key. Rejects the retry if that
 * token has been deleted or has expired, even if a new token has the same id.
 */
export async function renderAgain(
  vault: Vault,
  context: CommandContext,
  operation: 'create' | 'update',
  claimed: ClaimedToken | undefined,
): Promise<CommandResult<TokenAnswer>> {
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
  // Threat: the caller uses the retry to learn the fingerprint of a value that another caller stored after the first
  // request. The response contains the fingerprint only if the value is still the same.
  const carriesFingerprint = read.life.contentRevision === claimed.carriedContent;
  if (deduplicated) {
    return done(duplicateAnswer(context, read, { operation, cvcIgnored, carriesFingerprint }));
  }
  // The first response may have been 503 because the keys of replaced data could not be destroyed. If so, this retry
  // destroys them.
  const now = await loadToken(vault, caller.tenantId, claimed.stream);
  if (now.state.ended.length > 0) {
    await ensureProjected(vault, [now]);
    await vault.keys.destroy(now.state.ended);
  }
  const { containers } = read.open;
  const transform =
    operation === 'create' ? transformForCreate(caller, containers) : transformFor(caller, 'token:update', containers);
  if (transform === null) return rejected('forbidden');
  return done(tokenAnswer(caller, read, transform, { carriesFingerprint }));
}
