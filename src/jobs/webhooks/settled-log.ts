import type { ClearEvent } from '../../events/event.js';
import { steadyNow } from '../../ports/clock.js';
import type { Vault } from '../../vault/vault.js';

/** The number of events on a page that is not the last one. */
export const pageSize = 500;
/**
 * The maximum number of pages that are kept for other webhooks. A webhook that continues after a long time reads the
 * whole log since then, which may not fit into memory.
 */
const pagesMax = 8;
/**
 * How long the job waits for the end of the request that created a token. In the cluster profile, the leader ends each
 * abandoned request after about a minute. Threat: an attacker who can write the rows, or a lost key, prevents this for
 * one request. Without this limit, its tenant would receive no further event.
 */
const heldMsMax = 5 * 60_000;

/** Returns the streams of tokens whose creation may still be undone. */
export type PendingStreams = () => Promise<ReadonlySet<string>>;

/** A page of the log. `held` contains the streams of tokens that may still be undone. */
type Page = { readonly events: readonly ClearEvent[]; readonly held: ReadonlySet<string> };

export type SettledLog = {
  /**
   * Reads a page of the log for a webhook of this tenant. The page ends before the first creation of a token of the
   * tenant that may still be undone, because webhooks must not be notified of a token that was never created. The next
   * round continues there. After `heldMsMax`, the job no longer waits for that token.
   */
  read(position: number, tenantId: string): Promise<readonly ClearEvent[]>;
  /** Discards the pages, so that the next reads find new events. Call this when a round begins. */
  forget(): void;
};

/** Creates the reader of the log. Webhooks that are at the same position share a page while it is one of the newest. */
export function createSettledLog({ log, clock }: Pick<Vault, 'clock' | 'log'>, pending: PendingStreams): SettledLog {
  let pages = new Map<number, Promise<Page>>();
  /** The streams in `pending`, each with the time (from `steadyNow`) when this job first found it there. */
  let heldSince: ReadonlyMap<string, number> = new Map();

  function sharedPage(position: number): Promise<Page> {
    const known = pages.get(position);
    if (known !== undefined) return known;
    const page = readPage(position);
    const [oldest] = pages.keys();
    if (oldest !== undefined && pages.size >= pagesMax) pages.delete(oldest);
    pages.set(position, page);
    return page;
  }

  async function readPage(position: number): Promise<Page> {
    const events = await log.readClear(position, pageSize);
    if (!events.some(({ type }) => type === 'token.created')) return { events, held: new Set() };
    const streams = await pending();
    const now = steadyNow(clock);
    heldSince = new Map([...streams].map((stream) => [stream, heldSince.get(stream) ?? now]));
    const held = [...heldSince].filter(([, since]) => now - since < heldMsMax).map(([stream]) => stream);
    return { events, held: new Set(held) };
  }

  return {
    async read(position, tenantId) {
      const { events, held } = await sharedPage(position);
      const isHeld = (event: ClearEvent) =>
        event.type === 'token.created' && event.tenantId === tenantId && held.has(event.stream);
      const end = events.findIndex(isHeld);
      return end < 0 ? events : events.slice(0, end);
    },
    forget() {
      pages = new Map();
    },
  };
}
