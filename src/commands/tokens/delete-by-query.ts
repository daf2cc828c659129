import { reachOf } from '../../domain/access/reach.js';
import { latestNow } from '../../ports/clock.js';
import type { SearchPlan } from '../../ports/search-plan.js';
import { isFoundBy } from '../../queries/is-found-by.js';
import { chargeSearch, recordSearchByValue } from '../../queries/search-guesses.js';
import { planSearch } from '../../search/plan-search.js';
import { parseQuery } from '../../search/query/parse-query.js';
import type { CommandContext } from '../../vault/command-context.js';
import { ForgedRow } from '../../vault/forged-row.js';
import { type CommandResult, done, invalidFields } from '../../vault/result.js';
import { withSearchKey } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { type DeleteTarget, deleteTokens } from './delete-tokens.js';
import { finishRemembered } from './finish-erasure.js';

const tokensMax = 1_000;
const pageSize = 100;

/**
 * Deletes up to 1,000 of the tokens that a query finds under `token:search`, newest first (docs/contract.md, "Delete
 * many tokens"). `refused` counts the matches that the caller may not delete. They do not prevent the deletion of the
 * other matches. `remaining` counts the tokens that another call would delete.
 */
export async function deleteByQuery(
  vault: Vault,
  context: Pick<CommandContext, 'caller' | 'traceId' | 'beganAt'>,
  text: string,
): Promise<CommandResult<{ readonly deleted: number; readonly refused: number; readonly remaining: number }>> {
  const parsed = parseQuery(text);
  if (!parsed.ok) return invalidFields({ query: [parsed.message] });
  if (parsed.query.is === 'everything') return invalidFields({ query: ['must not be blank'] });
  const { caller } = context;
  const { tenantId } = caller;
  const refusal = await chargeSearch(vault, caller, parsed.query);
  if (refusal !== null) return refusal;
  const { total, tokens, all, searchKey, plan } = await withSearchKey(vault, tenantId, async (searchKey) => {
    const [found, deletable] = (['token:search', 'token:delete'] as const).map((permission) =>
      planSearch(searchKey, tenantId, parsed.query, reachOf(caller, permission)),
    );
    if (found === undefined || deletable === undefined) throw new Error('both plans must have been made');
    const both: SearchPlan = { ...found, where: { is: 'and', of: [found.where, deletable.where] } };
    const first = await firstOf(vault, both);
    const counted = await vault.rows.search(found, { now: latestNow(vault.clock), offset: 0, limit: 1 });
    return { ...first, all: counted, searchKey, plan: both };
  });
  // The search is recorded before the deletion, so that a value that this request deletes counts as found.
  await recordSearchByValue(vault, context, parsed.query, all.total);
  const { deleted, refused, changed } = await deleteTokens(vault, context, tokens, (stream, token) => {
    // Threat: an attacker that can write the rows makes the query find a token that does not match the query.
    if (!isFoundBy(vault, searchKey, plan, token)) throw new ForgedRow({ of: 'token', name: stream }, 'not_authentic');
  });
  await finishRemembered(vault, tenantId);
  // A store server that lost its leadership must not make the response report that nothing is left to delete.
  await vault.confirmReads(context.beganAt, false);
  const outside = Math.max(0, all.total - total);
  // The query may no longer match a token that changed in the meantime, so the next call deals with that token.
  return done({ deleted, refused: refused + outside, remaining: total - tokens.length + changed });
}

/**
 * Returns the newest matches and the total number of matches. Loads the content of only the first row of each page,
 * because the contents of a hundred rows take up to 50 MiB. The other search results are not authenticated, but the
 * deletion reads the tokens' events. The total may or may not include a token that is created or deleted in the
 * meantime.
 */
async function firstOf(
  { rows, clock }: Vault,
  plan: SearchPlan,
): Promise<{ readonly total: number; readonly tokens: readonly DeleteTarget[] }> {
  const tokens = new Map<string, DeleteTarget>();
  const now = latestNow(clock);
  let total = 0;
  for (let offset = 0; offset < tokensMax; offset += pageSize) {
    const page = await rows.search(plan, { now, offset, limit: pageSize, contentBytesMax: 0 });
    if (offset === 0) total = page.total;
    const found = [...page.rows.map(({ stream, state: { revision } }) => ({ stream, revision })), ...page.later];
    for (const { stream, revision } of found) tokens.set(stream, { stream, revision });
    if (found.length < pageSize) break;
  }
  return { total: Math.max(total, tokens.size), tokens: [...tokens.values()] };
}
