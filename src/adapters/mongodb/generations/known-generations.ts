import type { GenerationsInUse } from '../../../ports/generations.js';
import type { MongoConnection } from '../connection.js';
import { loadGenerations } from './generations-document.js';

/**
 * The generations in use. `at` is the time when this process began to read them (`performance.now()`). The list was
 * correct at some moment after `at`.
 */
export type KnownGenerations = GenerationsInUse & { readonly at: number };

/**
 * Two limits on how long a list of generations can be used. `knownMs` is how long the list stays in the cache.
 * `trustedMs` is the limit from docs/design.md, "Rebuild": a reader relies on a list for at most two seconds, including
 * the time to read the list.
 */
const knownMs = 1_000;
export const trustedMs = 2_000;

/** Creates a cache of the generations in use. */
export function knownGenerations(connection: MongoConnection) {
  let known: KnownGenerations | null = null;
  let loading: Promise<KnownGenerations> | null = null;
  let forgottenAt = Number.NEGATIVE_INFINITY;

  async function fresh(): Promise<KnownGenerations> {
    const at = performance.now();
    const { read, write } = await loadGenerations(connection);
    const loaded = { read, write, at };
    if (at >= forgottenAt && at >= (known?.at ?? at)) known = loaded;
    return loaded;
  }

  function load(): Promise<KnownGenerations> {
    const mine = fresh();
    loading = mine;
    const done = (): void => {
      if (loading === mine) loading = null;
    };
    mine.then(done, done);
    return mine;
  }

  return {
    /**
     * Returns the generations in use. The list is at most one second old. It was read from the current primary, because
     * a deposed primary's response can be outdated.
     */
    async known(): Promise<KnownGenerations> {
      const isGood =
        known !== null && performance.now() - known.at < knownMs && connection.primaryIsSince(known.at) ? known : null;
      return isGood ?? loading ?? load();
    },
    /**
     * Reads the generations from the store. The read begins after this call, so the result is never older than the
     * call.
     */
    fresh,
    /**
     * Discards the list of generations that was read before this call. Call this before and after each change that this
     * process makes to the generations.
     */
    forget(): void {
      forgottenAt = performance.now();
      known = null;
      loading = null;
    },
  };
}
