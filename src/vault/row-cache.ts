import { LRUCache } from 'lru-cache';
import { after } from '../domain/maybe.js';
import type { UnitOfWork } from '../ports/unit-of-work.js';
import type { TokenView } from '../views/token-view.js';
import type { AuthenticTokenRows } from './authentic-token-rows.js';

const bytesMax = 24 * 1024 * 1024;
/** A view without its ciphertexts, and its entry in the cache. */
const entryBytes = 800;

/**
 * A bounded cache of verified rows, for a process that has the rows to itself. The contents stay encrypted. A row is
 * dropped before a change of its token is stored, and no row is added while a change is being stored.
 */
export function createRowCache() {
  const views = new LRUCache<string, TokenView>({
    maxSize: bytesMax,
    sizeCalculation: ({ content, cvc }) => entryBytes + (content?.length ?? 0) + (cvc?.length ?? 0),
  });
  /** The number of changes of each stream that are being stored. */
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

  return {
    /** Returns rows whose `get` uses the cache. */
    rows: (rows: AuthenticTokenRows): AuthenticTokenRows => ({
      ...rows,
      get(stream) {
        const known = views.get(stream);
        if (known !== undefined) return known;
        const dropsBefore = drops;
        return after(rows.get(stream), (view) => {
          // A row that was read before a change must not be added after it.
          const isCurrent = drops === dropsBefore && !changing.has(stream);
          if (isCurrent && view !== null && view.state.life !== null) views.set(stream, view);
          return view;
        });
      },
    }),
    /** Returns a unit of work that drops the rows that it changes. */
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
    /** Drops all rows: from now on, rows of another generation are read. */
    clear(): void {
      drops += 1;
      views.clear();
    },
  };
}

export type RowCache = ReturnType<typeof createRowCache>;
