import { setImmediate as nextTurn } from 'node:timers/promises';
import { evolve } from '../domain/token/evolve.js';
import type { TokenState } from '../domain/token/token-state.js';
import type { TokenType } from '../domain/token/types/token-type.js';
import type { ProvenClear } from '../events/commit.js';
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
export async function loadToken(
  { log }: { readonly log: Log },
  tenantId: string,
  stream: string,
  /** Lets other requests run. Awaited between two pages of a long stream. */
  pause: () => Promise<void> | undefined = nextTurn,
): Promise<TokenView> {
  const first = await log.readFrom(stream, 0, wholeMax);
  const view = first.reduce(applyToView, emptyView(stream, tenantId));
  if (first.length < wholeMax) return view;
  let { state } = view;
  for await (const page of clearEvents(log, stream, wholeMax)) {
    state = page.reduce((before, event) => evolve(before, readTokenEvent(event)), state);
    await pause();
  }
  return { stream, tenantId, state, ...(await boxesOf(log, stream, state)) };
}

/**
 * Yields the events of a stream page by page, without ciphertexts. Starts at `fromRevision`, which must be at least 1.
 */
export async function* clearEvents(
  log: Log,
  stream: string,
  fromRevision: number,
): AsyncGenerator<readonly ProvenClear[]> {
  for (let from = fromRevision; ; from += clearPageSize) {
    // Each read includes the event before the page, which always exists. This means that even the last read is never
    // empty, and shows whether the stream ends with a complete commit.
    const page = await log.readClearFrom(stream, from - 1, clearPageSize + 1);
    yield page.slice(1);
    if (page.length <= clearPageSize) return;
  }
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

async function boxesOf(log: Log, stream: string, { life }: TokenState): Promise<Pick<TokenView, 'content' | 'cvc'>> {
  const sealedAt = async (revision: number | undefined) =>
    revision === undefined ? undefined : (await log.readFrom(stream, revision, 1))[0]?.sealed;
  const content = await sealedAt(life?.contentRevision);
  const cvc = await sealedAt(life?.cvc?.revision);
  return { content: content?.content ?? null, cvc: cvc?.cvc ?? null };
}
