import { describe, expect, test } from 'vitest';
import type { SearchIndexCheck } from '#src/ports/search-index-check.js';
import {
  aHash,
  atNoon,
  type ContractStores,
  change,
  noTokenYet,
  onStores,
  tokenCreated,
  tokenDeleted,
  tokenWrite,
} from './support.js';

/** Stores with a search index. `damage` removes postings from the index, but leaves the rows unchanged. */
export type IndexedStores = ContractStores & { readonly searchIndex: SearchIndexCheck; damage(): void };

/** Defines the tests that every adapter for `SearchIndexCheck` must pass. */
export function searchIndexCheckContract(name: string, open: () => Promise<IndexedStores>): void {
  const aTerm = () => aHash().slice(0, 32);
  const aToken = () =>
    tokenWrite(noTokenYet(), [tokenCreated({ expiresAt: atNoon + 5 })], {
      index: { fingerprintHash: aHash(), terms: [aTerm(), aTerm()] },
    });

  /** Opens the stores as `onStores` does, but passes all of them to the test, including the search index. */
  function onIndex(work: (stores: IndexedStores) => Promise<void>): () => Promise<void> {
    return async () => {
      const stores = await open();
      await onStores(
        async () => stores,
        async () => work(stores),
      )();
    };
  }

  describe(`SearchIndexCheck of ${name}`, () => {
    test(
      'an index that agrees with the rows has no problem, even after a token is deleted',
      onIndex(async ({ work, searchIndex }) => {
        expect(await searchIndex.run()).toEqual([]);
        const deleted = aToken();
        for (const write of [aToken(), deleted]) await work.commit(change(write));
        expect(await searchIndex.run()).toEqual([]);
        await work.commit(change(tokenWrite(deleted.view, [tokenDeleted()], { index: 'keep' })));
        expect(await searchIndex.run()).toEqual([]);
      }),
    );

    test(
      'a damaged index is a problem with a repair',
      onIndex(async ({ work, searchIndex, damage }) => {
        for (const write of [aToken(), aToken(), aToken()]) await work.commit(change(write));
        damage();
        expect(await searchIndex.run()).toEqual([
          {
            check: 'search index',
            says: expect.stringContaining('damaged'),
            do: expect.stringContaining('rebuild'),
          },
        ]);
      }),
    );
  });
}
