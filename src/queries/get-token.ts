import { transformFor } from '../domain/access/decide-access.js';
import { tokenStream } from '../events/tokens/stream-name.js';
import type { CommandContext } from '../vault/command-context.js';
import { type CommandResult, done, rejected } from '../vault/result.js';
import { tenantKeysOf } from '../vault/tenant-keys.js';
import type { Vault } from '../vault/vault.js';
import { readToken } from './read-token.js';
import { type TokenAnswer, tokenAnswer } from './token-answer.js';

/**
 * Returns a token under the caller's transform (docs/contract.md, "Get a token"). With `token:use`, under the transform
 * of a detokenization, which may show more.
 */
export async function getToken(
  vault: Vault,
  { caller }: Pick<CommandContext, 'caller'>,
  id: string,
  permission: 'token:read' | 'token:use' = 'token:read',
): Promise<CommandResult<TokenAnswer>> {
  const { tenantId } = caller;
  const { names } = await tenantKeysOf(vault, tenantId);
  const read = await readToken(vault, tenantId, tokenStream(names, id));
  if (read === null) return rejected('token_not_found');
  const transform = transformFor(caller, permission, read.open.containers);
  if (transform === null) return rejected('forbidden');
  return done(tokenAnswer(caller, read, transform));
}
