import type { FastifyReply, FastifyRequest } from 'fastify';
import { createSharedBudget } from '../domain/expressions/budget.js';
import type { JsonObject } from '../domain/json.js';
import { jsonText } from '../domain/json-text.js';
import type { Steps } from '../domain/steps.js';
import type { FoundTokens } from '../queries/find-tokens.js';
import { type Render, release } from '../queries/release.js';
import type { TokenAnswer } from '../queries/token-answer.js';
import type { Vault } from '../vault/vault.js';
import { contextOf } from './request-state.js';
import { sendPieces } from './send-json.js';

/**
 * Sends a page of complete token objects (docs/contract.md, "Pagination"). Sends each token only after the access log
 * has recorded its read. A large page is never in memory as a whole. Only its first tokens (`tokens`) and the token
 * that is being sent are in memory, and up to 64 KiB of text.
 */
export async function sendTokenPage(
  vault: Vault,
  request: FastifyRequest,
  reply: FastifyReply,
  pagination: JsonObject,
  { tokens, rest }: Pick<FoundTokens, 'tokens' | 'rest'>,
  besides: JsonObject = {},
): Promise<FastifyReply> {
  const context = contextOf(request);
  const work = vault.turns.begin(context.caller.tenantId);
  const shared = createSharedBudget();
  const render = await release(vault, context, tokens, shared);
  const head = `{"pagination":${JSON.stringify(pagination)},"data":[`;
  const tail = `]${Object.entries(besides).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`)}}`;

  async function* pieces(): AsyncGenerator<string> {
    if (rest === null) {
      yield head + (await work.run(textsOf(render, tokens))) + tail;
      return;
    }
    yield head;
    let separator = '';
    for (const token of tokens) {
      yield separator + (await work.run(textOf(render, token)));
      separator = ',';
    }
    for await (const token of rest()) {
      yield separator + (await work.run(textOf(await release(vault, context, [token], shared), token)));
      separator = ',';
    }
    yield tail;
  }

  return sendPieces(reply, pieces());
}

function* textOf(render: Render, token: TokenAnswer): Steps<string> {
  return yield* jsonText(yield* render(token));
}

/** Returns the JSON text of several tokens, separated by commas. */
function* textsOf(render: Render, tokens: readonly TokenAnswer[]): Steps<string> {
  let texts = '';
  for (const token of tokens) {
    texts += `${texts === '' ? '' : ','}${yield* textOf(render, token)}`;
    yield;
  }
  return texts;
}
