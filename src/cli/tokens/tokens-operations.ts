import { z } from 'zod';
import { createToken as create } from '../../commands/tokens/create-tokens.js';
import { deleteToken as remove } from '../../commands/tokens/delete-token.js';
import { createSharedBudget } from '../../domain/expressions/budget.js';
import type { JsonObject } from '../../domain/json.js';
import { issueErrors } from '../../domain/json-path.js';
import { type PageAnswer, pageAnswer, pageFields, rangeOf } from '../../http/pagination.js';
import { createTokenBody } from '../../http/token-body.js';
import { getToken as get } from '../../queries/get-token.js';
import { searchTokens as search } from '../../queries/offset-pages.js';
import { release, releasedToken } from '../../queries/release.js';
import { applicationOperation, valueOrThrow } from '../operations/as-application.js';
import { fieldErrorText } from '../operations/field-error-text.js';
import { OperationFailed } from '../operations/operation.js';

const oneToken = z.object({ key: z.string(), id: z.string() });

/** Returns a token. The result contains only what the application may see. */
export const getToken = applicationOperation(oneToken, ['token:read'], async ({ vault }, context, { id }) => {
  return valueOrThrow(await releasedToken(vault, context, valueOrThrow(await get(vault, context, id))));
});

/** Creates a token as the application. */
export const createToken = applicationOperation(
  z.object({ key: z.string(), request: z.unknown() }),
  ['token:create'],
  async ({ vault }, context, { request }) => {
    const body = createTokenBody.safeParse(request);
    if (!body.success) throw new OperationFailed(fieldErrorText(issueErrors(body.error.issues, 'body')));
    const created = await create(vault, { ...context, idempotency: null }, body.data);
    return valueOrThrow(await releasedToken(vault, context, valueOrThrow(created)));
  },
);

/** Deletes a token as the application. When the operation resolves, the token has been erased. */
export const deleteToken = applicationOperation(oneToken, ['token:delete'], async ({ vault }, context, { id }) => {
  valueOrThrow(await remove(vault, context, id, null));
  return { deleted: true };
});

type FoundPage = PageAnswer & { readonly _suggestions?: readonly string[] };

/** Returns a page of search results, in the form that `POST /tokens/search` returns. */
export const searchTokens = applicationOperation(
  z.object({ key: z.string(), query: z.string(), ...pageFields }),
  ['token:search'],
  async ({ vault }, context, { query, ...page }): Promise<FoundPage> => {
    const found = valueOrThrow(await search(vault, context, query, rangeOf(page)));
    const data: JsonObject[] = [];
    const add = (token: JsonObject | null) => {
      if (token !== null) data.push(token);
    };
    const slices = vault.turns.begin(context.caller.tenantId);
    const shared = createSharedBudget();
    const render = await release(vault, context, found.tokens, shared);
    for (const token of found.tokens) add(await slices.run(render(token)));
    for await (const token of found.rest?.() ?? []) {
      const renderLater = await release(vault, context, [token], shared);
      add(await slices.run(renderLater(token)));
    }
    const besides = found.suggestions.length === 0 ? {} : { _suggestions: [...found.suggestions] };
    return { ...pageAnswer(page, found.total, data), ...besides };
  },
);
