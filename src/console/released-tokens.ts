import { createSharedBudget } from '../domain/expressions/budget.js';
import type { JsonObject } from '../domain/json.js';
import type { FoundTokens } from '../queries/find-tokens.js';
import { maskedAnswer, type ReadContext, type ReleaseDeps, release } from '../queries/release.js';
import type { Vault } from '../vault/vault.js';

/**
 * Records the read of each token in the access log, and returns the fields that a page shows. A list never shows
 * plaintext. If the caller may see the plaintext, the list shows the mask instead. `show` selects the fields that the
 * page needs, so that memory does not contain many whole tokens while a large page is rendered.
 */
export async function releasedTokens<T>(
  vault: ReleaseDeps & Pick<Vault, 'turns'>,
  context: ReadContext,
  found: Pick<FoundTokens, 'tokens' | 'rest'>,
  show: (token: JsonObject) => T,
): Promise<readonly T[]> {
  const slices = vault.turns.begin(context.caller.tenantId);
  const shared = createSharedBudget();
  const shown: T[] = [];
  const add = (token: JsonObject | null) => {
    if (token !== null) shown.push(show(token));
  };
  const tokens = found.tokens.map(maskedAnswer);
  const render = await release(vault, context, tokens, shared);
  for (const token of tokens) add(await slices.run(render(token)));
  for await (const later of found.rest?.() ?? []) {
    const token = maskedAnswer(later);
    add(await slices.run((await release(vault, context, [token], shared))(token)));
  }
  return shown;
}
