import { transformFor } from '../domain/access/decide-access.js';
import { tokenStream } from '../events/tokens/stream-name.js';
import { after, type Maybe } from '../ports/maybe.js';
import type { RequestContext } from '../vault/request-context.js';
import { type CommandResult, done, rejected } from '../vault/result.js';
import { tenantKeysOf } from '../vault/tenant-keys.js';
import type { Vault } from '../vault/vault.js';
import { type ReadTokenDeps, readToken } from './read-token.js';
import { confirmed } from './release.js';
import { type TokenAnswer, tokenAnswer } from './token-answer.js';

/**
 * Returns a token under the caller's transform (docs/contract.md, "Get a token"). If `permission` is `token:use`, the
 * caller sees the token as detokenize would show it, which may be more than `token:read` shows. Returns a token before
 * it is known to be current, because `release` confirms this.
 */
export function getToken(
  vault: ReadTokenDeps & Pick<Vault, 'confirmReads'>,
  context: Pick<RequestContext, 'caller' | 'beganAt'>,
  id: string,
  permission: 'token:read' | 'token:use' = 'token:read',
): Maybe<CommandResult<TokenAnswer>> {
  const { caller } = context;
  const { tenantId } = caller;
  const read = after(tenantKeysOf(vault, tenantId), ({ names }) => readToken(vault, tenantId, tokenStream(names, id)));
  return after(read, (found) => {
    if (found === null) return confirmed(vault, context, rejected('token_not_found'));
    const transform = transformFor(caller, permission, found.open.containers);
    if (transform === null) return confirmed(vault, context, rejected('forbidden'));
    return done(tokenAnswer(caller, found, transform));
  });
}
