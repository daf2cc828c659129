import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordReads } from '../commands/access-log/record-reads.js';
import type { CommandResult } from '../commands/result.js';
import { entityTag } from '../commands/tokens/precondition.js';
import type { TokenAnswer } from '../commands/tokens/token-answer.js';
import type { Vault } from '../commands/vault.js';
import { problemFrom } from './error-handler.js';
import { contextOf } from './request-state.js';

/**
 * Sends a token with its entity tag, once the access log has it; never to be stored by anything on the way. Throws the
 * problem of a rejection.
 */
export async function sendToken(
  vault: Vault,
  request: FastifyRequest,
  reply: FastifyReply,
  result: CommandResult<TokenAnswer>,
  status: 200 | 201,
): Promise<FastifyReply> {
  if (!result.ok) throw problemFrom(result);
  await recordReads(vault, contextOf(request), [result.value]);
  const { body, revision } = result.value;
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('etag', entityTag(revision))
    .send(JSON.stringify(body.reveal()));
}
