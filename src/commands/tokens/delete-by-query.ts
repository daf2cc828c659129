import { reachOf } from '../../domain/access/reach.js';
import { latestNow } from '../../ports/clock.js';
import type { SearchPlan } from '../../ports/search-plan.js';
import { isFoundBy } from '../../queries/is-found-by.js';
import { chargeSearch, recordSearchByValue } from '../../queries/search-guesses.js';
import { planSearch } from '../../search/plan-search.js';
import { parseQuery } from '../../search/query/parse-query.js';
import { ForgedRow } from '../../vault/forged-row.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, invalidFields } from '../../vault/result.js';
import { withSearchTermKey } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { type DeleteTarget, type DeleteTokensDeps, deleteTokens } from './delete-tokens.js';
import { finishRemembered, rememberOthers } from './finish-erasure.js';

type DeleteByQueryDeps = DeleteTokensDeps &
  Pick<Vault, 'confirmReads' | 'expressions' | 'generations' | 'guesses' | 'recorder'>;

const tokensMax = 1_000;
const pageSize = 100;

/**
 * Deletes up to 1,000 of the tokens that match a query, newest first (docs/contract.md, "Delete many tokens"). The
 * query finds only tokens that the caller may search. `refused` counts the matches that the caller may not delete. The
 * other matches are still deleted. `remaining` counts the tokens that another call would delete.
 */
export async function deleteByQuery(
  vault: DeleteByQueryDeps,
  context: Pick<RequestContext, 'caller' | 'traceId' | 'beganAt'>,
  text: string,
): Promise<CommandResult<{ readonly deleted: number; readonly refused: number; readonly remaining: number }>> {
  const parsed = parseQuery(text);
  if (!parsed.ok) return invalidFields({ query: [parsed.message] });
  if (parsed.query.kind === 'everything') return invalidFields({ query: ['must not be blank'] });
  const { caller } = context;
  const { tenantId } = caller;
  const refusal = await chargeSearch(vault, caller, parsed.query);
  if (refusal !== null) return refusal;
  const { total, tokens, all, searchKey, plan } = await withSearchTermKey(vault, tenantId, async (searchKey) => {
    const [found, deletable] = (['token:search', 'token:delete'] as const).map((permission) =>
      planSearch(searchKey, tenantId, parsed.query, reachOf(caller, permission)),
    );
    if (found === undefined || deletable === undefined) throw new Error('both plans must have been made');
    const both: SearchPlan = { ...found, where: { kind: 'and', of: [found.where, deletable.where] } };
    const first = await firstOf(vault, both);
    const counted = await vault.rows.search(found, { now: latestNow(vault.clock), offset: 0, limit: 1 });
    return { ...first, all: counted, searchKey, plan: both };
  });
  // The search is recorded before the deletion. Recording can look up each value again, and the values that this
  // request deletes must count as found.
  await recordSearchByValue(vault, context, parsed.query, all.total);
  const { deleted, refused, changed } = await deleteTokens(vault, context, tokens, (stream, token) => {
    // Threat: an attacker who can write the rows makes the query find a token that does not match it.
    if (!isFoundBy(vault, searchKey, plan, token)) throw new ForgedRow({ of: 'token', name: stream }, 'not_authentic');
  });
  await rememberOthers(vault, tenantId);
  await finishRemembered(vault, tenantId);
  // A server that is no longer the leader of its store may read old rows. Its response must not report that nothing is
  // left to delete.
  await vault.confirmReads(context.beganAt);
  const outside = Math.max(0, all.total - total);
  // A token that changed after the search may no longer match the query. It counts as remaining, and the next call
  // decides whether to delete it.
  return done({ deleted, refused: refused + outside, remaining: total - tokens.length + changed });
}

/**
 * Returns the newest matches and the total number of matches. Loads the content of only one row per page, because the
 * contents of a hundred rows take up to 50 MiB. The other rows are not authenticated here. This is safe, because the
 * deletion reads the events of each token. If a token is created or deleted during the search, the total may or may not
 * include that token.
 */
async function firstOf(
  { rows, clock }: Pick<Vault, 'clock' | 'rows'>,
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
