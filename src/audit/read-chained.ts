import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoredEvent } from '../events/commit.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { ChainLink, EventChain } from '../ports/event-chain.js';
import type { StoredLog } from '../ports/event-log.js';
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
  const events = await readEvents(log, after);
  const links = await chain.after(after, pageSize);
  const end = Math.min(endOf(events.page, events.isWhole), endOf(links, links.length < pageSize));
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
  return { lines, forged, next: end < upTo ? end : null };
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

async function readEvents(
  log: Deps['log'],
  after: number,
): Promise<{ readonly page: readonly StoredEvent[]; readonly isWhole: boolean }> {
  const page: StoredEvent[] = [];
  let sizeBytes = 0;
  for (let count = readSizeFirst; page.length < pageSize; count = Math.min(2 * count, readSizeMax)) {
    const read = await log.readAll(page.at(-1)?.position ?? after, count);
    for (const event of read) {
      page.push(event);
      const { content, cvc } = event.sealed;
      sizeBytes += (content?.length ?? 0) + (cvc?.length ?? 0);
      if (sizeBytes >= pageBytes) return { page, isWhole: false };
    }
    if (read.length < count) return { page, isWhole: true };
    await nextTurn();
  }
  return { page, isWhole: false };
}
