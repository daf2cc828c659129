import { transformFor, transformForCreate } from '../../domain/access/decide-access.js';
import type { ClaimResult } from '../../ports/claims.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import type { CommandContext } from '../command-context.js';
import { once } from '../once.js';
import { type CommandResult, done, rejected } from '../result.js';
import type { Vault } from '../vault.js';
import { duplicateAnswer } from './duplicate-answer.js';
import { readToken } from './read-token.js';
import { type TokenAnswer, tokenAnswer } from './token-answer.js';

/**
 * Runs a command on a token once per idempotency key: a repeat gets the result of the first, rendered again from the
 * stored token under the caller's present rules (contract, section 1).
 */
export async function idempotently(
  vault: Vault,
  tenantKeys: TenantKeys,
  context: CommandContext,
  operation: 'create' | 'update',
  run: (cmd: string | null) => Promise<CommandResult<TokenAnswer>>,
): Promise<CommandResult<TokenAnswer>> {
  const { caller, idempotency } = context;
  const request = idempotency === null ? null : { applicationId: caller.applicationId, ...idempotency };
  return once(vault, tenantKeys, request, run, (result) => renderAgain(vault, context, operation, result));
}

async function renderAgain(
  vault: Vault,
  context: CommandContext,
  operation: 'create' | 'update',
  { tokens, deduplicated, cvcIgnored = false }: ClaimResult,
): Promise<CommandResult<TokenAnswer>> {
  const { caller } = context;
  const [claimed] = tokens;
  const read = claimed === undefined ? null : await readToken(vault, caller.tenantId, claimed.stream);
  if (read === null || read.life.createdRevision !== claimed?.createdRevision)
    return rejected('idempotent_result_gone');
  const { view, life, open } = read;
  if (deduplicated) {
    return done(duplicateAnswer(vault, context, open, { life, view }, { operation, cvcIgnored }));
  }
  // The first may have been answered 503 because the keys of replaced data could not be destroyed yet.
  if (view.state.ended.length > 0) await vault.keys.destroy(view.state.ended);
  const { containers } = open.content.reveal();
  const transform =
    operation === 'create' ? transformForCreate(caller, containers) : transformFor(caller, 'token:update', containers);
  if (transform === null) return rejected('forbidden');
  return done(tokenAnswer(vault.expressions, open, { life, revision: view.state.revision }, transform));
}
