import { expect, onTestFinished, test } from 'vitest';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import type { HeldRows, PageRequest, SearchPage, SearchPlan } from '#src/ports/search-plan.js';
import type { CommitOutcome, UnitOfWork } from '#src/ports/unit-of-work.js';
import type { AuthenticTokenRows } from '#src/vault/authentic-token-rows.js';
import { createRowCache } from '#src/vault/row-cache.js';
import type { TokenView } from '#src/views/token-view.js';
import { createPlain, path } from '../http/routes/support.js';
import { startTestService } from '../support/test-service.js';

const stream = 'token-1';
const anyPlan: SearchPlan = { tenantId: 't', generation: 1, all: '', where: { kind: 'and', of: [] } };

/**
 * Creates a cache over a store with a single row. Only the revision of the row changes. The test can delay reads and
 * commits.
 */
async function cacheOver() {
  const service = await startTestService();
  const { id } = await createPlain(service);
  const { names } = (await service.vault.keys.tenantKeys(service.tenantId)) ?? expect.fail('the tenant has keys');
  const view = (await service.vault.rows.get(tokenStream(names, id))) ?? expect.fail('the token has a row');
  await service.close();

  let revision = 0;
  let reads = 0;
  let held: Promise<unknown> = Promise.resolve();
  const rows = {
    async get(): Promise<TokenView | null> {
      reads += 1;
      const found = { ...view, stream, state: { ...view.state, revision } };
      await held;
      return found;
    },
    /** Returns the row in the state that it had when the search began. */
    async search(_plan: SearchPlan, page: PageRequest & HeldRows<TokenView>): Promise<SearchPage<TokenView>> {
      const found = page.held?.(stream, revision) ?? (await rows.get());
      await held;
      return { total: 1, rows: found === null ? [] : [found], later: [] };
    },
  };
  const work = {
    async commit(): Promise<CommitOutcome> {
      revision += 1;
      await held;
      return { outcome: 'committed' };
    },
  };
  const cache = createRowCache();
  const cached = cache.rows({ ...service.vault.rows, ...rows } as AuthenticTokenRows);
  const changing = cache.work({ ...service.vault.work, ...work } as UnitOfWork);
  const write = { stream, expectedRevision: 0, events: [], row: null, distinct: null };
  return {
    cache,
    revisionOf: async () => (await cached.get(stream))?.state.revision,
    foundRevision: async () => {
      const found = await cached.search(anyPlan, { now: 0, offset: 0, limit: 1 });
      return found.rows[0]?.state.revision;
    },
    change: () => changing.commit({ writes: [write], claim: null }),
    /**
     * Stores a newer row without updating the cache. The next search then finds a newer state than the cache contains.
     */
    store(newer: number): void {
      revision = newer;
    },
    reads: () => reads,
    hold(): () => void {
      let release: () => void = () => undefined;
      held = new Promise<void>((resolve) => {
        release = resolve;
      });
      return release;
    },
  };
}

test('a row is read once, and is read again after a change to its token', async () => {
  const { revisionOf, change, reads } = await cacheOver();
  expect([await revisionOf(), await revisionOf()]).toEqual([0, 0]);
  expect(reads()).toBe(1);
  await change();
  expect([await revisionOf(), await revisionOf()]).toEqual([1, 1]);
  expect(reads()).toBe(2);
});

test('a read that began before a change and ends after it leaves no old row in the cache', async () => {
  const { revisionOf, change, hold } = await cacheOver();
  const release = hold();
  const early = revisionOf();
  const changed = change();
  release();
  await changed;
  expect(await early).toBe(0);
  expect(await revisionOf()).toBe(1);
});

test('while a change is being stored, no row of its token is cached, so no read returns an older state than an earlier read', async () => {
  const { revisionOf, change, hold, reads } = await cacheOver();
  const release = hold();
  const changed = change();
  const during = [revisionOf(), revisionOf()];
  release();
  await changed;
  expect(await Promise.all(during)).toEqual([1, 1]);
  expect(reads()).toBe(2);
  expect(await revisionOf()).toBe(1);
  expect(reads()).toBe(3);
});

test('a search does not read rows that the cache already has, and adds the rows that it reads to the cache', async () => {
  const { foundRevision, revisionOf, change, reads } = await cacheOver();
  expect([await foundRevision(), await foundRevision(), await revisionOf()]).toEqual([0, 0, 0]);
  expect(reads()).toBe(1);
  await change();
  expect([await foundRevision(), await revisionOf()]).toEqual([1, 1]);
  expect(reads()).toBe(2);
});

test('a search that began before a change and ends after it leaves no old row in the cache', async () => {
  const { foundRevision, revisionOf, change, hold } = await cacheOver();
  const release = hold();
  const early = foundRevision();
  const changed = change();
  release();
  await changed;
  expect(await early).toBe(0);
  expect(await revisionOf()).toBe(1);
});

test('if a search finds another revision than the cache has, it reads the row', async () => {
  const { foundRevision, revisionOf, store, reads } = await cacheOver();
  await revisionOf();
  store(1);
  expect(await foundRevision()).toBe(1);
  expect(reads()).toBe(2);
});

/** A store whose token is on every page. Before a search asks for the rows of its page, it calls `whileSearching`. */
async function pagesOf(whileSearching: (cached: AuthenticTokenRows, changed: () => Promise<void>) => Promise<void>) {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const { id } = await createPlain(service);
  const { names } = (await service.vault.keys.tenantKeys(service.tenantId)) ?? expect.fail('the tenant has keys');
  const name = tokenStream(names, id);
  const view = (await service.vault.rows.get(name)) ?? expect.fail('the token has a row');
  const position = view.state.life?.createdPosition ?? expect.fail('the token is live');
  const cache = createRowCache();
  let fromCache = 0;
  const cached = cache.rows({
    ...service.vault.rows,
    get: async () => view,
    async search(_plan: SearchPlan, page: PageRequest & HeldRows<TokenView>): Promise<SearchPage<TokenView>> {
      await whileSearching(cached, async () => void (await work.commit({ writes: [write], claim: null })));
      const whole = page.heldPage?.(new Array(page.limit).fill(position));
      if (whole !== undefined) fromCache += 1;
      return { total: page.limit, rows: whole ?? [view], later: [] };
    },
  } as AuthenticTokenRows);
  const write = { stream: name, expectedRevision: 0, events: [], row: null, distinct: null };
  const work = cache.work({
    ...service.vault.work,
    commit: async () => ({ outcome: 'committed' }),
  } as UnitOfWork);
  return {
    search: (limit: number, contentBytesMax = Number.POSITIVE_INFINITY) =>
      cached.search(anyPlan, { now: 0, offset: 0, limit, contentBytesMax }),
    contentBytes: view.content?.length ?? 0,
    fromCache: () => fromCache,
  };
}

test('the second search takes its page from the cache', async () => {
  const { search, fromCache } = await pagesOf(async () => undefined);
  await search(1);
  expect(fromCache()).toBe(0);
  expect((await search(3)).rows).toHaveLength(3);
  expect(fromCache()).toBe(1);
});

test('a page whose contents exceed the limit is not taken from the cache', async () => {
  const { search, contentBytes, fromCache } = await pagesOf(async () => undefined);
  await search(1);
  await search(2, 2 * contentBytes - 1);
  expect(fromCache()).toBe(0);
  await search(2, 2 * contentBytes);
  expect(fromCache()).toBe(1);
});

test('a page is not taken from the cache if a row was changed and cached again while the search ran', async () => {
  let searches = 0;
  const { search, fromCache } = await pagesOf(async (cached, changed) => {
    searches += 1;
    if (searches !== 2) return;
    await changed();
    await cached.get('any');
  });
  await search(1);
  await search(1);
  expect(fromCache()).toBe(0);
  await search(1);
  expect(fromCache()).toBe(1);
});

test('the cache is emptied when another generation is put into use', async () => {
  const { cache, revisionOf, reads } = await cacheOver();
  await revisionOf();
  cache.clear();
  await revisionOf();
  expect(reads()).toBe(2);
});

test('a service shows every change, deletion and expiry immediately, however often the token was read before', async () => {
  const service = await startTestService();
  const { id } = await createPlain(service, { data: 'one' });
  const shown = async () => (await service.call('GET', path(id))).body['data'];
  const listed = async () => (await service.call('GET', '/tokens')).text;
  expect([await shown(), await shown()]).toEqual(['one', 'one']);
  expect(await listed()).toContain('"data":"one"');
  await service.call('PATCH', path(id), { data: 'two' });
  expect([await shown(), await shown()]).toEqual(['two', 'two']);
  for (const text of [await listed(), await listed()]) expect(text).toContain('"data":"two"');
  await service.call('DELETE', path(id));
  expect((await service.call('GET', path(id))).status).toBe(404);
  expect(await listed()).toContain('"total_items":0');

  const expiresAt = new Date(service.clock.now() + 60_000).toISOString();
  const expiring = await createPlain(service, { expires_at: expiresAt });
  expect((await service.call('GET', path(expiring.id))).status).toBe(200);
  expect(await listed()).toContain('"total_items":1');
  service.clock.advance(60_001);
  expect((await service.call('GET', path(expiring.id))).status).toBe(404);
  expect(await listed()).toContain('"total_items":0');
  await service.close();
});
