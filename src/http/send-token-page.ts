import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordReads } from '../commands/access-log/record-reads.js';
import type { FoundTokens } from '../commands/tokens/find-tokens.js';
import type { Vault } from '../commands/vault.js';
import { type Page, pageAnswer } from './pagination.js';
import { contextOf } from './request-state.js';
import { sendJson } from './send-json.js';

/** Sends a page of whole token objects (contract, section 2), once the access log has each of them. */
export async function sendTokenPage(
  vault: Vault,
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
  { tokens, total }: FoundTokens,
): Promise<FastifyReply> {
  await recordReads(vault, contextOf(request), tokens);
  const data = tokens.map(({ body }) => body.reveal());
  return sendJson(reply, 200, pageAnswer(page, total, data));
}
