import type { GenerationsInUse } from '../../../ports/generations.js';
import type { MongoConnection } from '../connection.js';
import { loadGenerations } from './generations-document.js';

/**
 * The generations in use. `at` is the time at which this process began to read them (`performance.now()`). The list was
 * correct at some moment since then.
 */
export type KnownGenerations = GenerationsInUse & { readonly at: number };

/**
 * `trustedMs` is the limit from docs/design.md, "Rebuild": a reader relies on what it knows about the generations for
 * at most two seconds, including the read itself. `knownMs` is how long a list of the generations stays in the cache.
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
     * Returns the generations in use. The list is at most one second old and was read from the current primary, because
     * the response of a deposed primary may be outdated.
     */
    async known(): Promise<KnownGenerations> {
      const isGood =
        known !== null && performance.now() - known.at < knownMs && connection.primaryIsSince(known.at) ? known : null;
      return isGood ?? loading ?? load();
    },
    /** Reads the generations from the store. Never reuses a read that began before this call. */
    fresh,
    /**
     * Discards everything that was read before this call. Called before and after this process changes the generations.
     */
    forget(): void {
      forgottenAt = performance.now();
      known = null;
      loading = null;
    },
  };
}
