import { createSharedBudget } from '../domain/expressions/budget.js';
import type { JsonObject } from '../domain/json.js';
import type { FoundTokens } from '../queries/find-tokens.js';
import { maskedAnswer, type ReadContext, release } from '../queries/release.js';
import type { Vault } from '../vault/vault.js';

/**
 * Returns the fields that a page shows for each token, once the access log has recorded the read. Lists never show
 * plaintext: if the caller could see it, the list shows the mask. `show` keeps only the fields that the page needs, so
 * that only one whole token is in memory at a time, even for a large page.
 */
export async function releasedTokens<T>(
  vault: Vault,
  context: ReadContext,
  found: Pick<FoundTokens, 'tokens' | 'rest'>,
  show: (token: JsonObject) => T,
): Promise<readonly T[]> {
  const work = vault.turns.begin(context.caller.tenantId);
  const shared = createSharedBudget();
  const shown: T[] = [];
  const tokens = found.tokens.map(maskedAnswer);
  const render = await release(vault, context, tokens, shared);
  for (const token of tokens) shown.push(show(await work.run(render(token))));
  for await (const later of found.rest?.() ?? []) {
    const token = maskedAnswer(later);
    shown.push(show(await work.run((await release(vault, context, [token], shared))(token))));
  }
  return shown;
}
