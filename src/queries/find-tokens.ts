import { transformFor } from '../domain/access/decide-access.js';
import type { TokenPermission } from '../domain/access/permission.js';
import { reachOf } from '../domain/access/reach.js';
import { isExpired } from '../domain/token/token-state.js';
import { latestNow } from '../ports/clock.js';
import { after, all, type Maybe } from '../ports/maybe.js';
import { type FoundLife, foundLife, type SearchPlan } from '../ports/search-plan.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import { planSearch } from '../search/plan-search.js';
import type { Query } from '../search/query/syntax-tree.js';
import { ForgedRow } from '../vault/forged-row.js';
import { KeyLost } from '../vault/key-lost.js';
import { isBehindLog } from '../vault/load-token.js';
import { type OpenTokenDeps, openRow } from '../vault/open-token.js';
import type { RequestContext } from '../vault/request-context.js';
import { withSearchTermKey } from '../vault/tenant-keys.js';
import type { Vault } from '../vault/vault.js';
import type { TokenView } from '../views/token-view.js';
import { type ReadToken, type ReadTokenDeps, readToken } from './read-token.js';
import { type TokenAnswer, tokenAnswer } from './token-answer.js';

export type FindTokensDeps = ReadTokenDeps & Pick<Vault, 'generations'>;

const triesMax = 10;

/** The range of matches to return. */
export type Range = { readonly offset: number; readonly limit: number };

/**
 * The maximum total size of the contents that are decrypted before a response begins. Threat: a caller requests many
 * pages without reading the responses, and fills the memory. A page of 100 tokens of 512 KiB each takes up 50 MiB.
 */
const openedBytesMax = 512 * 1024;

/** The first tokens of a range, and the total number of matches for the query. */
export type FoundTokens = {
  readonly tokens: readonly TokenAnswer[];
  readonly total: number;
  /** Reads the remaining tokens of the range, one at a time. Null if `tokens` contains the whole range. */
  readonly rest: (() => AsyncIterable<TokenAnswer>) | null;
};

/**
 * Returns a range of the tokens that match a query and that the caller may see with this permission. Each token is
 * shown under the caller's transform. All matches reflect the same moment. If a key is destroyed before its token is
 * decrypted, the search is repeated. Throws KeyLost and ForgedRow.
 *
 * If the range is large, the remaining tokens are read while the response is being sent. Each of them is shown as it is
 * at that time. Tokens that have been deleted by then, or that the caller may no longer see, are left out.
 */
export function findTokens(
  vault: FindTokensDeps,
  { caller }: Pick<RequestContext, 'caller'>,
  permission: TokenPermission,
  query: Query,
  range: Range,
): Promise<FoundTokens> {
  const { tenantId } = caller;
  return withSearchTermKey(vault, tenantId, async (searchKey) => {
    const plan = planSearch(searchKey, tenantId, query, reachOf(caller, permission));
    const { found, opened } = await openFound(vault, () => {
      const page = { now: latestNow(vault.clock), ...range, contentBytesMax: openedBytesMax };
      return vault.rows.search(plan, page);
    });
    const tokens = opened.flatMap((read) => answerFor(caller, permission, read));
    const expired = found.rows.length - opened.length;
    return { tokens, total: found.total - expired, rest: restOf(vault, caller, permission, found.later) };
  });
}

/**
 * Selects at most `limit` tokens that were created before the log position `before`. If `before` is null, the selection
 * starts at the newest token.
 */
export type Continuation = { readonly before: number | null; readonly limit: number };

export type FoundStep = {
  readonly tokens: readonly TokenAnswer[];
  /** Reads the remaining tokens of the step, as in `FoundTokens`. */
  readonly rest: FoundTokens['rest'];
  /** The value of `before` for the next step. Null if there are no more matches. */
  readonly next: number | null;
};

/**
 * Returns one step of a walk through the tokens that match a query, newest first. The same rules apply as for
 * `findTokens`. If each step continues at the `next` of the previous step, the walk returns every token that exists
 * during the whole walk. It returns each token exactly once, because the creation position of a token never changes.
 * Throws KeyLost and ForgedRow.
 */
export function findTokensBefore(
  vault: FindTokensDeps,
  { caller }: Pick<RequestContext, 'caller'>,
  permission: TokenPermission,
  query: Query,
  continuation: Continuation,
): Promise<FoundStep> {
  const { tenantId } = caller;
  return withSearchTermKey(vault, tenantId, async (searchKey) => {
    const plan = planSearch(searchKey, tenantId, query, reachOf(caller, permission));
    const { found, opened } = await openFound(vault, () => walkPage(vault, plan, continuation));
    const tokens = opened.flatMap((read) => answerFor(caller, permission, read));
    return { tokens, rest: restOf(vault, caller, permission, found.later), next: found.next };
  });
}

/**
 * The number of rows that are read from the store at the same time. It is small because a row can contain up to 512
 * KiB.
 */
const walkRowsMax = 10;

/**
 * Reads the rows of a step. Rows beyond `openedBytesMax` are returned in `later`, without contents. Threat: if the step
 * ended there, a caller could compare the lengths of pages to find the size of data that it may not see.
 */
async function walkPage(
  vault: Pick<Vault, 'clock' | 'rows' | 'turns'>,
  plan: SearchPlan,
  { before, limit }: Continuation,
) {
  const rows: TokenView[] = [];
  const later: FoundLife[] = [];
  const slices = vault.turns.begin(plan.tenantId);
  let bytes = 0;
  let position = before;
  for (;;) {
    await slices.pause();
    // Reads one more row than the page contains, to find out whether there are more matches.
    const wanted = Math.min(walkRowsMax, limit + 1 - rows.length - later.length);
    const step = await vault.rows.walk(plan, { now: latestNow(vault.clock), before: position, limit: wanted });
    for (const row of step) {
      if (rows.length + later.length === limit) return { rows, later, next: position };
      bytes += row.content?.length ?? 0;
      if (rows.length === 0 || bytes <= openedBytesMax) rows.push(row);
      else later.push(foundLife(row));
      position = createdPosition(row);
    }
    if (step.length < wanted) return { rows, later, next: null };
  }
}

function createdPosition({ state: { life } }: TokenView): number {
  if (life === null) throw new Error('a walk must find only live tokens');
  return life.createdPosition;
}

function restOf(
  vault: ReadTokenDeps,
  caller: RequestContext['caller'],
  permission: TokenPermission,
  later: readonly FoundLife[],
): FoundTokens['rest'] {
  return later.length === 0 ? null : () => readLater(vault, caller, permission, later);
}

/**
 * Finds rows and decrypts them. If a key was destroyed or a token was changed between the search and the decryption,
 * repeats the search.
 */
async function openFound<F extends { readonly rows: readonly TokenView[] }>(
  vault: OpenTokenDeps & Pick<Vault, 'log' | 'work'>,
  find: () => Promise<F>,
): Promise<{ readonly found: F; readonly opened: readonly ReadToken[] }> {
  let closedBefore: ClosedBefore = new Map();
  for (let tries = 0; tries < triesMax; tries += 1) {
    const found = await find();
    const { rows } = found;
    const opened = await all(rows.map((view) => open(vault, view)));
    const closed = rows.flatMap((view, i) => {
      const why = opened[i];
      return why === 'key_destroyed' || why === 'outdated' ? [{ view, why }] : [];
    });
    if (closed.length === 0) {
      return { found, opened: opened.flatMap((read) => (typeof read === 'string' ? [] : [read])) };
    }
    closedBefore = await closedAgain(vault, closed, closedBefore);
  }
  throw new StoreUnavailable('token rows', 'race_not_settled');
}

function open(vault: OpenTokenDeps, view: TokenView): Maybe<ReadToken | 'key_destroyed' | 'outdated' | 'expired'> {
  const { life } = view.state;
  if (life === null) return 'key_destroyed';
  return after(openRow(vault, view, life), (opened) => {
    if (opened === null) return 'key_destroyed';
    if (view.state.revision < opened.newest) return 'outdated';
    // The token may have expired while its keys were read.
    return isExpired(life, latestNow(vault.clock)) ? 'expired' : { view, life, open: opened.open };
  });
}

async function* readLater(
  vault: ReadTokenDeps,
  caller: RequestContext['caller'],
  permission: TokenPermission,
  later: readonly FoundLife[],
): AsyncIterable<TokenAnswer> {
  const slices = vault.turns.begin(caller.tenantId);
  for (const { stream, createdRevision } of later) {
    await slices.pause();
    const read = await readToken(vault, caller.tenantId, stream);
    if (read?.life.createdRevision === createdRevision) yield* answerFor(caller, permission, read);
  }
}

type Closed = { readonly view: TokenView; readonly why: 'key_destroyed' | 'outdated' };

/**
 * For each row that could not be read, the number of consecutive searches that found it. The map key consists of the
 * stream and the revision of the row.
 */
type ClosedBefore = ReadonlyMap<string, number>;

/**
 * Counts how many times each row could not be read. If a row has a destroyed key, and neither the row nor the log
 * changes until the next search, the key is lost: a command that destroys a key also appends an event. If a row is
 * outdated, brings it up to the end of its stream. If it is still outdated after that, an attacker has restored the older
 * row.
 */
async function closedAgain(
  vault: Pick<Vault, 'log' | 'work'>,
  closed: readonly Closed[],
  before: ClosedBefore,
): Promise<ClosedBefore> {
  const times = new Map<string, number>();
  for (const { view, why } of closed) {
    const { stream, tenantId, state } = view;
    const name = `${stream}@${state.revision}`;
    const count = before.get(name) ?? 0;
    if (count === 1 && why === 'key_destroyed' && !(await isBehindLog(vault, view))) {
      throw new KeyLost(stream, 'key_destroyed_without_event');
    }
    if (count > 1) throw new ForgedRow({ of: 'token', name: stream }, 'outdated');
    if (count === 1) await vault.work.follow([{ tenantId, stream, revision: state.revision + 1 }]);
    times.set(name, count + 1);
  }
  return times;
}

function answerFor(caller: RequestContext['caller'], permission: TokenPermission, token: ReadToken) {
  const transform = transformFor(caller, permission, token.open.containers);
  return transform === null ? [] : [tokenAnswer(caller, token, transform)];
}
