import type { FastifyReply } from 'fastify';
import type { CommandResult } from '../commands/result.js';
import { entityTag } from '../commands/tokens/precondition.js';
import type { TokenAnswer } from '../commands/tokens/token-answer.js';
import { problemFrom } from './error-handler.js';

/** Sends a token with its entity tag; never to be stored by anything on the way. Throws the problem of a rejection. */
export function sendToken(reply: FastifyReply, result: CommandResult<TokenAnswer>, status: 200 | 201): FastifyReply {
  if (!result.ok) throw problemFrom(result);
  const { body, revision } = result.value;
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('etag', entityTag(revision))
    .send(JSON.stringify(body.reveal()));
}
