import { z } from 'zod';
import { recordReads } from '../../commands/access-log/record-reads.js';
import { searchTokens as search } from '../../commands/tokens/search-tokens.js';
import { createSharedBudget } from '../../domain/expressions/budget.js';
import type { JsonObject } from '../../domain/json.js';
import { type PageAnswer, pageAnswer, pageFields, rangeOf } from '../../http/pagination.js';
import { asApplication, unwrap, verbContext } from './as-application.js';
import { operation } from './operation.js';

type FoundPage = PageAnswer & { readonly _suggestions?: readonly string[] };

/** A page of what a query finds, as `POST /tokens/search` answers the application. */
export const searchTokens = operation(
  z.object({ key: z.string(), query: z.string(), ...pageFields }),
  async (service, { key, query, ...page }): Promise<FoundPage> => {
    const { vault } = service;
    const caller = await asApplication(service, key, 'token:search');
    const context = verbContext(service, caller);
    const found = unwrap(await search(vault, context, query, rangeOf(page)));
    const data: JsonObject[] = [];
    const work = vault.turns.begin(caller.tenantId);
    const shared = createSharedBudget();
    await recordReads(vault, context, found.tokens);
    for (const { render } of found.tokens) data.push(await work.run(render(shared)));
    for await (const token of found.rest?.() ?? []) {
      await recordReads(vault, context, [token]);
      data.push(await work.run(token.render(shared)));
    }
    const besides = found.suggestions.length === 0 ? {} : { _suggestions: [...found.suggestions] };
    return { ...pageAnswer(page, found.total, data), ...besides };
  },
);
