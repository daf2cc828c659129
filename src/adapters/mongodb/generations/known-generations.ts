import type { GenerationsInUse } from '../../../ports/generations.js';
import type { MongoConnection } from '../connection.js';
import { loadGenerations } from './generations-document.js';

/** `at`: when it was asked for (`performance.now()`); it was so at some moment since. */
export type KnownGenerations = GenerationsInUse & { readonly at: number };

/** docs/design.md, "Rebuild": readers know what is in use for two seconds at most, the read itself included. */
const knownMs = 1_000;
export const trustedMs = 2_000;

/** What is in use, as this process knows it. */
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
    /** As it was a second ago at most, and said by the primary of now: what a deposed one said is worth nothing. */
    async known(): Promise<KnownGenerations> {
      const isGood =
        known !== null && performance.now() - known.at < knownMs && connection.primaryIsSince(known.at) ? known : null;
      return isGood ?? loading ?? load();
    },
    /** From the store, read after the call. */
    fresh,
    /** After a change of its own this process knows nothing that is older. */
    forget(): void {
      forgottenAt = performance.now();
      known = null;
      loading = null;
    },
  };
}
