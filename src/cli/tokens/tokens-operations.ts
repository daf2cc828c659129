import { z } from 'zod';
import { createToken as create } from '../../commands/tokens/create-tokens.js';
import { deleteToken as remove } from '../../commands/tokens/delete-token.js';
import { createSharedBudget } from '../../domain/expressions/budget.js';
import type { JsonObject } from '../../domain/json.js';
import { type PageAnswer, pageAnswer, pageFields, rangeOf } from '../../http/pagination.js';
import { createTokenBody } from '../../http/token-body.js';
import { getToken as get } from '../../queries/get-token.js';
import { release } from '../../queries/release.js';
import { searchTokens as search } from '../../queries/search-tokens.js';
import { asApplication, commandContext, unwrap } from '../operations/as-application.js';
import { fieldErrorText, issueErrors } from '../operations/field-error-text.js';
import { OperationFailed, operation } from '../operations/operation.js';

/** Returns a token. The result contains only what the application may see. */
export const getToken = operation(z.object({ key: z.string(), id: z.string() }), async (service, { key, id }) => {
  const caller = await asApplication(service, key, 'token:read');
  const context = commandContext(service, caller);
  const token = unwrap(await get(service.vault, context, id));
  const render = await release(service.vault, context, [token]);
  return service.vault.turns.begin(caller.tenantId).run(render(token));
});

/** Creates a token as the application. */
export const createToken = operation(
  z.object({ key: z.string(), request: z.unknown() }),
  async (service, { key, request }) => {
    const caller = await asApplication(service, key, 'token:create');
    const body = createTokenBody.safeParse(request);
    if (!body.success) throw new OperationFailed(fieldErrorText(issueErrors(body.error.issues, 'body')));
    const context = { ...commandContext(service, caller), idempotency: null };
    const token = unwrap(await create(service.vault, context, body.data));
    const render = await release(service.vault, context, [token]);
    return service.vault.turns.begin(caller.tenantId).run(render(token));
  },
);

/** Deletes a token as the application. When the operation resolves, the token has been erased. */
export const deleteToken = operation(z.object({ key: z.string(), id: z.string() }), async (service, { key, id }) => {
  const caller = await asApplication(service, key, 'token:delete');
  unwrap(await remove(service.vault, { caller, traceId: service.vault.random.uuid() }, id, null));
  return { deleted: true };
});

type FoundPage = PageAnswer & { readonly _suggestions?: readonly string[] };

/** Returns a page of search results, in the form that `POST /tokens/search` returns. */
export const searchTokens = operation(
  z.object({ key: z.string(), query: z.string(), ...pageFields }),
  async (service, { key, query, ...page }): Promise<FoundPage> => {
    const { vault } = service;
    const caller = await asApplication(service, key, 'token:search');
    const context = commandContext(service, caller);
    const found = unwrap(await search(vault, context, query, rangeOf(page)));
    const data: JsonObject[] = [];
    const work = vault.turns.begin(caller.tenantId);
    const shared = createSharedBudget();
    const render = await release(vault, context, found.tokens, shared);
    for (const token of found.tokens) data.push(await work.run(render(token)));
    for await (const token of found.rest?.() ?? []) {
      const renderLater = await release(vault, context, [token], shared);
      data.push(await work.run(renderLater(token)));
    }
    const besides = found.suggestions.length === 0 ? {} : { _suggestions: [...found.suggestions] };
    return { ...pageAnswer(page, found.total, data), ...besides };
  },
);
