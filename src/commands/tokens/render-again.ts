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
 * Returns the token that the first request with this idempotency key created, changed or found. Rejects the retry if
 * the token has since been deleted or has expired, even if its id is in use again.
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
  // Threat: an attacker that can write the rows changes the claim, so that it names a token that the caller did not
  // create and may not read.
  if (operation === 'create' && !deduplicated && read.life.createdBy !== caller.applicationId) {
    return rejected('idempotent_result_gone');
  }
  // Threat: another caller may have replaced the value since the first request, so the caller must not see the new
  // fingerprint.
  const carriesFingerprint = read.life.contentRevision === claimed.carriedContent;
  if (deduplicated) {
    return done(duplicateAnswer(context, read, { operation, cvcIgnored, carriesFingerprint }));
  }
  // The first response may have been 503 because the keys of replaced data could not be destroyed.
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
