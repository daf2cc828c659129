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
 * Returns the token that the first request with an idempotency key created, changed or found. Rejects the retry if that
 * life of the token has ended.
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
  // Threat: an attacker that can write the rows makes the claim name a token that the caller did not create and may not
  // read.
  if (operation === 'create' && !deduplicated && read.life.createdBy !== caller.applicationId) {
    return rejected('idempotent_result_gone');
  }
  // Threat: another caller may have stored another value since the first request.
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
