import { transformFor } from '../domain/access/decide-access.js';
import { tokenStream } from '../events/tokens/stream-name.js';
import { after, type Maybe } from '../ports/maybe.js';
import type { RequestContext } from '../vault/request-context.js';
import { type CommandResult, done, rejected } from '../vault/result.js';
import { tenantKeysOf } from '../vault/tenant-keys.js';
import { type ReadTokenDeps, readToken } from './read-token.js';
import { type TokenAnswer, tokenAnswer } from './token-answer.js';

/**
 * Returns a token under the caller's transform (docs/contract.md, "Get a token"). If `permission` is `token:use`, the
 * caller sees the token as detokenize would show it, which may be more than `token:read` shows.
 */
export function getToken(
  vault: ReadTokenDeps,
  { caller }: Pick<RequestContext, 'caller'>,
  id: string,
  permission: 'token:read' | 'token:use' = 'token:read',
): Maybe<CommandResult<TokenAnswer>> {
  const { tenantId } = caller;
  const read = after(tenantKeysOf(vault, tenantId), ({ names }) => readToken(vault, tenantId, tokenStream(names, id)));
  return after(read, (found) => {
    if (found === null) return rejected('token_not_found');
    const transform = transformFor(caller, permission, found.open.containers);
    return transform === null ? rejected('forbidden') : done(tokenAnswer(caller, found, transform));
  });
}
