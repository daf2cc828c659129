import type { FastifyReply, FastifyRequest } from 'fastify';
import { createSharedBudget } from '../domain/expressions/budget.js';
import type { JsonObject } from '../domain/json.js';
import { jsonText } from '../domain/json-text.js';
import type { Steps } from '../domain/steps.js';
import type { Maybe } from '../ports/maybe.js';
import type { FoundTokens } from '../queries/find-tokens.js';
import { type ReleaseDeps, type Render, release } from '../queries/release.js';
import type { TokenAnswer } from '../queries/token-answer.js';
import type { Slices } from '../vault/turns.js';
import type { Vault } from '../vault/vault.js';
import { contextOf } from './request-state.js';
import { sendPieces } from './send-json.js';
import { expectSameAccess } from './server/authentication.js';

/**
 * Sends a page of complete token objects (docs/contract.md, "Pagination"). Sends each token only after the access log
 * has recorded its read. A large page is never in memory as a whole. Only its first tokens (`tokens`) and the token
 * that is being sent are in memory, and up to 64 KiB of text.
 */
export async function sendTokenPage(
  vault: ReleaseDeps & Pick<Vault, 'turns'>,
  request: FastifyRequest,
  reply: FastifyReply,
  pagination: JsonObject,
  { tokens, rest }: Pick<FoundTokens, 'tokens' | 'rest'>,
  besides: JsonObject = {},
): Promise<FastifyReply> {
  const context = contextOf(request);
  const slices = vault.turns.begin(context.caller.tenantId);
  const shared = createSharedBudget();
  const render = await release(vault, context, tokens, shared);
  const head = `{"pagination":${JSON.stringify(pagination)},"data":[`;
  const tail = `]${Object.entries(besides).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`)}}`;
  const releaseOne = (token: TokenAnswer) => release(vault, context, [token], shared);
  return sendPieces(reply, piecesOf({ head, tokens, render, rest, releaseOne, tail, slices, request }));
}

type Page = Pick<FoundTokens, 'tokens' | 'rest'> & {
  readonly head: string;
  /** Renders `tokens`. */
  readonly render: Render;
  /** Records the read of one of the other tokens. */
  releaseOne(token: TokenAnswer): Maybe<Render>;
  readonly tail: string;
  readonly slices: Slices;
  readonly request: FastifyRequest;
};

/**
 * This function is not nested in `sendTokenPage`, because V8 allocates a map (hidden class) for each generator function
 * that is created, and keeps it, with everything that the function refers to, until the next full garbage collection
 * (ADR 33).
 */
async function* piecesOf(page: Page): AsyncGenerator<string> {
  const { head, tokens, render, rest, releaseOne, tail, slices: work, request } = page;
  if (rest === null) {
    yield head + (await work.run(textsOf(render, tokens))) + tail;
    return;
  }
  yield head;
  let separator = '';
  for (const token of tokens) {
    const text = await work.run(textOf(render, token));
    if (text === null) continue;
    yield separator + text;
    separator = ',';
  }
  await expectSameAccess(request);
  for await (const token of rest()) {
    const text = await work.run(textOf(await releaseOne(token), token));
    if (text !== null) {
      yield separator + text;
      separator = ',';
    }
    // The client may have taken long to read this token. The next one is read after this line.
    await expectSameAccess(request);
  }
  yield tail;
}

/** Returns the JSON text of a token, or null if the token has expired. */
function* textOf(render: Render, token: TokenAnswer): Steps<string | null> {
  const shown = yield* render(token);
  return shown === null ? null : yield* jsonText(shown);
}

/** Returns the JSON text of several tokens, separated by commas. Leaves out expired tokens. */
function* textsOf(render: Render, tokens: readonly TokenAnswer[]): Steps<string> {
  let texts = '';
  for (const token of tokens) {
    const text = yield* textOf(render, token);
    if (text !== null) texts += `${texts === '' ? '' : ','}${text}`;
    yield;
  }
  return texts;
}
