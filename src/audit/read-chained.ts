import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoredEvent } from '../events/commit.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { ChainLink, EventChain } from '../ports/event-chain.js';
import { ForgedLog, type StoredLog } from '../ports/event-log.js';
import { forgery } from './authentic-log.js';
import { type ExportLine, exportedEvent } from './export-line.js';

const pageSize = 256;
/**
 * The number of events in the first read of a page. Each read has twice as many events as the one before it, up to
 * `readSizeMax`. No other request runs during a read, and an event can have 512 KiB.
 */
const readSizeFirst = 4;
const readSizeMax = 64;
/**
 * A page ends with the event that brings the total size of the page's ciphertexts to at least this many bytes. A page
 * is encoded and sent without a pause.
 */
const pageBytes = 1024 * 1024;

export type ChainedPage = {
  readonly lines: readonly ExportLine[];
  /** The fault in the first event that is not authentic. Null if all events are authentic. */
  readonly forged: string | null;
  /**
   * The fault in the first event after this page, if that event is so malformed that the store cannot return it, or that
   * it cannot be written to a line. Otherwise null. No page follows such a page.
   */
  readonly unreadable: string | null;
  /** The next page begins after this position. Null on the last page. */
  readonly next: number | null;
};

type Deps = {
  readonly log: Pick<StoredLog, 'readAll'>;
  readonly chain: EventChain;
  readonly keys: Pick<KeyRing, 'integrityKeys'>;
};

/**
 * Returns a page of stored events with their links. If an event is forged, describes it in `forged` instead of
 * throwing. The page begins after the position `after`, and ends at `upTo` at the latest. Decrypts nothing. Some stores
 * write the links later than the events. With such a store, all links up to `upTo` must exist before this function is
 * called.
 */
export async function readChained({ log, chain, keys }: Deps, after: number, upTo: number): Promise<ChainedPage> {
  const events = await readEvents(log, after, upTo);
  const links = await chain.after(after, pageSize);
  const { unreadable } = events;
  const read = unreadable === null ? endOf(events.page, events.isWhole) : (events.page.at(-1)?.position ?? after);
  const end = Math.min(read, endOf(links, links.length < pageSize));
  const byPosition = new Map<number, { event?: StoredEvent; link?: ChainLink }>();
  for (const event of events.page) byPosition.set(event.position, { event });
  for (const link of links) byPosition.set(link.position, { ...byPosition.get(link.position), link });
  const lines = [...byPosition]
    .filter(([position]) => position <= end && position <= upTo)
    .sort(([one], [other]) => one - other)
    .map(([position, found]) => lineOf(position, found));
  const { commits: key } = await keys.integrityKeys();
  const shown = events.page.filter(({ position }) => position <= end && position <= upTo);
  const forged = shown.map((event) => forgery(key, event)).find((what) => what !== null) ?? null;
  if (unreadable !== null && end === read) return { lines, forged, unreadable, next: null };
  return { lines, forged, unreadable: null, next: end < upTo ? end : null };
}

function lineOf(position: number, { event, link }: { event?: StoredEvent; link?: ChainLink }): ExportLine {
  return {
    position,
    count: link?.count ?? null,
    link: link === undefined ? null : Buffer.from(link.hash).toString('hex'),
    event: event === undefined ? null : exportedEvent(event),
  };
}

/** Returns the last position of a page. Returns infinity if the store has nothing after this page. */
function endOf(page: readonly { readonly position: number }[], isWhole: boolean): number {
  return isWhole ? Number.POSITIVE_INFINITY : (page.at(-1)?.position ?? Number.POSITIVE_INFINITY);
}

type Events = {
  readonly page: readonly StoredEvent[];
  readonly isWhole: boolean;
  readonly unreadable: string | null;
};

/** Reads the events of a page. Stops early after the event at `upTo`, or before an event that the store cannot return. */
async function readEvents(log: Deps['log'], after: number, upTo: number): Promise<Events> {
  const page: StoredEvent[] = [];
  let sizeBytes = 0;
  for (let count = readSizeFirst; page.length < pageSize; count = Math.min(2 * count, readSizeMax)) {
    const from = page.at(-1)?.position ?? after;
    const { read, unreadable } = await readUnlessMalformed(log, from, count);
    for (const event of read) {
      page.push(event);
      const { content, cvc } = event.sealed;
      sizeBytes += (content?.length ?? 0) + (cvc?.length ?? 0);
      if (sizeBytes >= pageBytes || event.position >= upTo) return { page, isWhole: false, unreadable: null };
    }
    if (unreadable !== null) return { page, isWhole: false, unreadable };
    if (read.length < count) return { page, isWhole: true, unreadable: null };
    await nextTurn();
  }
  return { page, isWhole: false, unreadable: null };
}

/**
 * Reads events. If the store cannot return one of them, or if it cannot be written to a line, returns the events before
 * it, and its fault.
 */
async function readUnlessMalformed(log: Deps['log'], after: number, count: number) {
  const read: StoredEvent[] = [];
  try {
    const all = await log.readAll(after, count);
    const wrong = all.findIndex((event) => !isWritable(event));
    const [event] = wrong < 0 ? [] : all.slice(wrong);
    if (event === undefined) return { read: all, unreadable: null };
    return { read: all.slice(0, wrong), unreadable: ForgedLog.at(event, 'is nested too deeply').what };
  } catch (error) {
    if (!(error instanceof ForgedLog)) throw error;
  }
  try {
    while (read.length < count) {
      const [event] = await log.readAll(read.at(-1)?.position ?? after, 1);
      if (event === undefined) break;
      read.push(event);
    }
    return { read, unreadable: null };
  } catch (error) {
    if (!(error instanceof ForgedLog)) throw error;
    return { read, unreadable: error.what };
  }
}

/**
 * Threat: an attacker nests the JSON of an event so deeply that it can be parsed, but not written again. A verification
 * or export would end with an unexpected error that does not name the event.
 */
function isWritable({ clear }: StoredEvent): boolean {
  try {
    JSON.stringify(clear);
    return true;
  } catch {
    return false;
  }
}
