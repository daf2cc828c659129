import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Json } from '../domain/json.js';
import { jsonText } from '../domain/json-text.js';
import type { Steps } from '../domain/steps.js';
import { entityTag } from '../domain/token/entity-tag.js';
import { after, type Maybe } from '../ports/maybe.js';
import { type ReleaseDeps, release } from '../queries/release.js';
import type { TokenAnswer } from '../queries/token-answer.js';
import type { CommandResult } from '../vault/result.js';
import type { Vault } from '../vault/vault.js';
import { Problem, problemFrom } from './problem/problem.js';
import { callerOf, contextOf } from './request-state.js';
import { sendText } from './send-json.js';

type SendTokenDeps = ReleaseDeps & Pick<Vault, 'turns'>;

/**
 * Sends a token with its entity tag after the access log has recorded the read. A token that the request has just
 * created needs no such record, because its creation event serves as the record. The response to a creation also
 * contains the token's location. Headers prevent caches from storing the response. If the command was rejected, or the
 * token has expired since, throws the problem instead.
 */
export function sendToken(
  vault: SendTokenDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  result: CommandResult<TokenAnswer>,
  status: 200 | 201,
): Maybe<FastifyReply> {
  if (!result.ok) throw problemFrom(result);
  const { value: token } = result;
  const text = after(release(vault, contextOf(request), [token]), (render) =>
    vault.turns.begin(callerOf(request).tenantId).run(textOf(render(token))),
  );
  const send = (body: string) => {
    if (status === 201) reply.header('location', `/tokens/${encodeURIComponent(token.id)}`);
    return sendText(reply.header('etag', entityTag(token.revision)), status, body);
  };
  return after(text, send);
}

function* textOf(rendering: Steps<Json>): Steps<string> {
  const token = yield* rendering;
  if (token === null) throw new Problem('token_not_found');
  return yield* jsonText(token);
}
