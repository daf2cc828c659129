import { LRUCache } from 'lru-cache';
import { after } from '../ports/maybe.js';
import { fitting, type PageRequest } from '../ports/search-plan.js';
import type { UnitOfWork } from '../ports/unit-of-work.js';
import type { TokenView } from '../views/token-view.js';
import type { AuthenticTokenRows } from './authentic-token-rows.js';

const bytesMax = 24 * 1024 * 1024;
/**
 * The approximate size of a cache entry and its view in bytes, without the ciphertexts: 980 bytes on the V8 heap, and
 * the objects that V8 allocates outside the heap for the buffer of a ciphertext.
 */
const entryBytes = 1_200;

/**
 * Creates a bounded cache of verified rows, for a process that is the only writer of the rows. The contents stay
 * encrypted. A row is dropped before a change to its token is stored, and is not added again while that change is being
 * stored.
 */
export function createRowCache() {
  const views = new LRUCache<string, TokenView>({
    maxSize: bytesMax,
    sizeCalculation: ({ content, cvc }) => entryBytes + (content?.length ?? 0) + (cvc?.length ?? 0),
    dispose: ({ state }) => state.life !== null && streams.delete(state.life.createdPosition),
  });
  /** The streams of the cached rows, keyed by the position of the event that created the token. */
  const streams = new Map<number, string>();
  /** For each stream, the number of changes that are being stored. */
  const changing = new Map<string, number>();
  let drops = 0;

  function drop(stream: string): void {
    drops += 1;
    views.delete(stream);
  }

  function begin(stream: string): void {
    changing.set(stream, (changing.get(stream) ?? 0) + 1);
    drop(stream);
  }

  function end(stream: string): void {
    const others = (changing.get(stream) ?? 1) - 1;
    if (others === 0) changing.delete(stream);
    else changing.set(stream, others);
    drop(stream);
  }

  /**
   * Adds a row, unless any row has been dropped since this row was read. `dropsBefore` is the value of `drops` before
   * the read. A row that was read before a change must not be added after that change.
   */
  function keep(view: TokenView, dropsBefore: number): void {
    const { stream, state } = view;
    if (drops !== dropsBefore || changing.has(stream) || state.life === null) return;
    views.set(stream, view);
    if (views.has(stream)) streams.set(state.life.createdPosition, stream);
  }

  /**
   * Returns the cached row if it has this revision. A search may have found a row that is older or newer than the
   * cached row.
   */
  function held(stream: string, revision: number): TokenView | undefined {
    const view = views.get(stream);
    return view?.state.revision === revision ? view : undefined;
  }

  /**
   * Returns the cached rows of a page. Returns undefined if a row is missing, or if the contents exceed the page's
   * limit. Also returns undefined if any row has been dropped since the search began, because the search may then have
   * found rows that are older than the cached ones. `dropsBefore` is the value of `drops` at that time.
   */
  function heldPage(
    positions: readonly number[],
    { contentBytesMax }: PageRequest,
    dropsBefore: number,
  ): readonly TokenView[] | undefined {
    if (drops !== dropsBefore) return undefined;
    const page: TokenView[] = [];
    for (const position of positions) {
      const stream = streams.get(position);
      const view = stream === undefined ? undefined : views.get(stream);
      if (view === undefined) return undefined;
      page.push(view);
    }
    const sizes = page.map(({ content }) => content?.length ?? 0);
    return fitting(sizes, contentBytesMax) === page.length ? page : undefined;
  }

  return {
    /** Returns rows whose `get` and `search` use the cache. */
    rows: (rows: AuthenticTokenRows): AuthenticTokenRows => ({
      ...rows,
      get(stream) {
        const known = views.get(stream);
        if (known !== undefined) return known;
        const dropsBefore = drops;
        return after(rows.get(stream), (view) => {
          if (view !== null) keep(view, dropsBefore);
          return view;
        });
      },
      async search(plan, page) {
        const dropsBefore = drops;
        const found = await rows.search(plan, {
          held,
          heldPage: (positions) => heldPage(positions, page, dropsBefore),
          ...page,
        });
        for (const view of found.rows) if (views.peek(view.stream) !== view) keep(view, dropsBefore);
        return found;
      },
    }),
    /** Returns a unit of work that, for each change, drops the changed rows from the cache. */
    work: (work: UnitOfWork): UnitOfWork => ({
      ...work,
      async commit(change) {
        const streams = change.writes.map(({ stream }) => stream);
        for (const stream of streams) begin(stream);
        try {
          return await work.commit(change);
        } finally {
          for (const stream of streams) end(stream);
        }
      },
    }),
    /** Drops all rows. Use this when reads switch to a different generation of rows. */
    clear(): void {
      drops += 1;
      views.clear();
    },
  };
}

export type RowCache = ReturnType<typeof createRowCache>;
