import { setImmediate as nextTurn } from 'node:timers/promises';
import { reachOf } from '../domain/access/reach.js';
import { atMost } from '../domain/at-most.js';
import type { ClearEvent } from '../events/event.js';
import { planSearch } from '../search/plan-search.js';
import { parseQuery } from '../search/query/parse-query.js';
import type { RequestContext } from '../vault/request-context.js';
import { type CommandResult, done, invalidFields } from '../vault/result.js';
import { type SearchTermKeyDeps, searchTermKeyOf } from '../vault/tenant-keys.js';
import type { Vault } from '../vault/vault.js';
import { hadHappened } from './as-of.js';
import { isFoundBy } from './is-found-by.js';
import { type ReplayAsk, replayToken } from './replay-token.js';
import { chargeSearch, recordSearchByValue } from './search-guesses.js';
import type { TokenAnswer } from './token-answer.js';

const pageSize = 500;
const atOnce = 8;

/** The result of one step of a query over tokens as they were at a past moment. */
export type ReplayStep = {
  readonly tokens: readonly TokenAnswer[];
  /**
   * The number of tokens that existed at that moment but were erased later. Whether the query would have matched them
   * is unknown.
   */
  readonly erased: number;
  /** The number of tokens that have changed since that moment, and that the caller may not see in plaintext. */
  readonly withheld: number;
  /** The position at which the next step continues. Null after the last step. */
  readonly next: number | null;
};

/**
 * Reads a page of the log. Of the tokens that were created on this page, returns those that were live at the moment
 * `ask.asOf` and matched the query at that moment. Each token is read from its stream, and other requests run before
 * each token. The memory for a step depends on the size of the page, and the time for all steps depends on the size of
 * the log. If all steps together have found no token, the last step records a query by value. `foundBefore` is the
 * number of tokens that the earlier steps returned.
 */
export async function replayQuery(
  vault: SearchTermKeyDeps & Pick<Vault, 'clock' | 'expressions' | 'guesses' | 'log' | 'recorder' | 'rows'>,
  context: Pick<RequestContext, 'caller' | 'traceId'>,
  text: string,
  ask: ReplayAsk,
  after: number,
  foundBefore: number,
): Promise<CommandResult<ReplayStep>> {
  const { caller } = context;
  const { tenantId } = caller;
  const parsed = parseQuery(text);
  if (!parsed.ok) return invalidFields({ query: [parsed.message] });
  const refusal = after === 0 ? await chargeSearch(vault, caller, parsed.query) : null;
  if (refusal !== null) return refusal;
  const searchKey = await searchTermKeyOf(vault, tenantId);
  const plan = planSearch(searchKey, tenantId, parsed.query, reachOf(caller, 'token:search'));
  const page = await vault.log.readClear(after, pageSize);
  const born = page.filter(
    (event) => event.type === 'token.created' && event.tenantId === tenantId && hadHappened(ask.asOf, event),
  );
  const tokens: { readonly at: number; readonly answer: TokenAnswer }[] = [];
  let erased = 0;
  let withheld = 0;

  async function look(event: ClearEvent): Promise<void> {
    const { stream, revision, position } = event;
    await nextTurn();
    // If the id already had a later life at the moment `ask.asOf`, this page skips the token. The page that contains
    // the start of the later life returns it.
    const replayed = await replayToken(vault, context, stream, ask, revision);
    if (replayed.kind === 'erased') erased += 1;
    if (replayed.kind === 'withheld') withheld += 1;
    if (replayed.kind === 'token' && isFoundBy(vault, searchKey, plan, replayed))
      tokens.push({ at: position, answer: replayed.answer });
  }

  await atMost(atOnce, born, look);
  const last = page.at(-1);
  const isEnd = last === undefined || page.length < pageSize || last.position >= ask.asOf.position;
  if (isEnd && foundBefore + tokens.length === 0) await recordSearchByValue(vault, context, parsed.query, 0);
  const inOrder = tokens.sort((one, other) => one.at - other.at).map(({ answer }) => answer);
  return done({ tokens: inOrder, erased, withheld, next: isEnd ? null : last.position });
}
