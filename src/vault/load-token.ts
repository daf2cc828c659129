import { setImmediate as nextTurn } from 'node:timers/promises';
import { endedBy, lifeAfter } from '../domain/token/evolve.js';
import type { TokenState } from '../domain/token/token-state.js';
import type { TokenType } from '../domain/token/types/token-type.js';
import type { ProvenClear } from '../events/commit.js';
import type { ClearEvent } from '../events/event.js';
import { readTokenEvent } from '../events/tokens/catalogue.js';
import type { EventLog } from '../ports/event-log.js';
import { applyToView, emptyView, type TokenView } from '../views/token-view.js';

type Log = Pick<EventLog, 'readFrom' | 'readClearFrom'>;

/**
 * The maximum number of events in the first read. Most tokens have fewer events, so one read is sufficient for them.
 */
const wholeMax = 8;
/** The number of events that are read between two pauses. Verifying this many takes a few milliseconds. */
const clearPageSize = 64;
/** The number of events that are read at the same time in the search for the event that created a token. */
const newestPageSize = 100;

/**
 * Reads a token's stream from the log and folds it. If the stream is long, reads only the ciphertexts that are still in
 * use, and lets other requests run between two pages. Threat: a caller updates one token a thousand times with 512 KiB
 * of data. If each change read all ciphertexts, every later change of the token would read half a gigabyte.
 */
export function loadToken(
  deps: { readonly log: Log },
  tenantId: string,
  stream: string,
  /** Lets other requests run. Awaited between two pages of a long stream. */
  pause?: () => Promise<void> | undefined,
): Promise<TokenView> {
  return loadTokenBefore(deps, tenantId, stream, () => false, pause);
}

/**
 * Like `loadToken`, but folds only the events before the first event for which `isEnd` returns true. Returns the token
 * as it was before that event.
 */
export async function loadTokenBefore(
  { log }: { readonly log: Log },
  tenantId: string,
  stream: string,
  isEnd: (event: ClearEvent) => boolean,
  pause: () => Promise<void> | undefined = nextTurn,
): Promise<TokenView> {
  const first = await log.readFrom(stream, 0, wholeMax);
  const folded = before(first, isEnd);
  const view = folded.reduce(applyToView, emptyView(stream, tenantId));
  if (folded.length < wholeMax) return view;
  let { revision, life } = view.state;
  // The ended keys are collected in one array. `evolve` copies those of all earlier events, so with `evolve`, a token
  // that has been updated ten thousand times would take seconds to load.
  const ended = [...view.state.ended];
  for await (const page of clearEvents(log, stream, wholeMax)) {
    const events = before(page, isEnd);
    for (const event of events) {
      const fact = readTokenEvent(event);
      revision = fact.revision;
      life = lifeAfter(life, fact);
      ended.push(...endedBy(fact));
    }
    if (events.length < page.length) break;
    await pause();
  }
  const state = { revision, life, ended };
  return { stream, tenantId, state, ...(await ciphertextsOf(log, stream, state)) };
}

function before<T extends ClearEvent>(events: readonly T[], isEnd: (event: ClearEvent) => boolean): readonly T[] {
  const end = events.findIndex(isEnd);
  return end < 0 ? events : events.slice(0, end);
}

/** Yields the events of a stream from a revision on, page by page, without ciphertexts. */
export async function* clearEvents(
  log: Log,
  stream: string,
  fromRevision: number,
): AsyncGenerator<readonly ProvenClear[]> {
  for (let from = fromRevision; ; from += clearPageSize) {
    // Each read except the first of a stream includes the event before the page, which always exists. This means that
    // even the last read is never empty, and shows whether the stream ends with a complete commit.
    const extra = from === 0 ? 0 : 1;
    const page = await log.readClearFrom(stream, from - extra, clearPageSize + extra);
    yield page.slice(extra);
    if (page.length < clearPageSize + extra) return;
  }
}

/** Returns all events of a stream, without ciphertexts. Lets other requests run after each page. */
export async function allClearEvents(log: Log, stream: string): Promise<readonly ProvenClear[]> {
  const events: ProvenClear[] = [];
  for await (const page of clearEvents(log, stream, 0)) {
    events.push(...page);
    await nextTurn();
  }
  return events;
}

/**
 * Returns the type of the token that lived at a revision of the stream. Reads it from the event that began the token's
 * life, which is the newest `token.created` at or before `revision`. Use this function if the token may have ended
 * since, because its folded state then no longer contains the type.
 */
export async function tokenTypeAt(
  { log }: { readonly log: Pick<EventLog, 'readNewest'> },
  stream: string,
  revision: number,
): Promise<TokenType> {
  for (let before: number | null = revision + 1; before !== null; ) {
    const page: readonly ProvenClear[] = await log.readNewest(stream, before, newestPageSize);
    for (const event of page) {
      const fact = event.type === 'token.created' ? readTokenEvent(event) : null;
      if (fact?.type === 'token.created') return fact.clear.token_type;
    }
    before = page.at(-1)?.revision ?? null;
  }
  throw new Error('the event that created this token is missing');
}

/**
 * Returns true if the log contains a newer event of the token than this view. Call it if the key of the view is
 * destroyed: the token may have been changed or deleted since the view was read. Threat: an attacker who can write the
 * rows restores the row of a deleted token. Its key is then erased and not lost.
 */
export async function isBehindLog(
  { log }: { readonly log: Pick<EventLog, 'readNewest'> },
  { stream, state }: TokenView,
): Promise<boolean> {
  const [newest] = await log.readNewest(stream, null, 1);
  return newest !== undefined && newest.revision > state.revision;
}

async function ciphertextsOf(
  log: Log,
  stream: string,
  { life }: TokenState,
): Promise<Pick<TokenView, 'content' | 'cvc'>> {
  const sealedAt = async (revision: number | undefined) =>
    revision === undefined ? undefined : (await log.readFrom(stream, revision, 1))[0]?.sealed;
  const content = await sealedAt(life?.contentRevision);
  const cvc = await sealedAt(life?.cvc?.revision);
  return { content: content?.content ?? null, cvc: cvc?.cvc ?? null };
}
