import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openAuthenticStores } from '#src/compose/embedded/embedded-stores.js';
import type { Rebuild } from '#src/ports/generations.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { createTokenRebuild } from '#src/projections/rebuild/token-rebuild.js';
import { manualClock } from '../support/manual-clock.js';
import { tempDir } from '../support/process.js';

const usual = { version: 1, graceMs: 0, isElsewhere: async () => false };

test.each(['keeping', 'dropping'] as const)('an error in the phase `%s` is reported once', async (phase) => {
  const clock = manualClock();
  const stores = await openAuthenticStores(tempDir(), randomBytes(32), clock, (error) => {
    throw error;
  });
  const rebuild: Rebuild = {
    generation: await stores.keys.createGeneration(),
    from: 1,
    phase: 'building',
    position: 0,
    head: 0,
    startedAt: clock.now(),
    swappedAt: null,
    acceptNew: false,
    outcome: null,
    different: 0,
    examples: [],
    rate: null,
  };
  await stores.generations.begin(rebuild);
  await stores.generations.save({ ...rebuild, phase, outcome: phase === 'keeping' ? null : 'failed' });
  const bug = new Error('a bug');
  const fail = async () => {
    throw bug;
  };
  const errors: unknown[] = [];
  const tokens = createTokenRebuild({
    ...stores,
    ...usual,
    clock,
    openThread: async () => ({ build: fail, compare: fail, forgetKeys: fail, close: async () => undefined }),
    onError: (error) => errors.push(error),
  });
  await tokens.resume();
  await tokens.idle();
  expect(errors).toEqual([bug]);
  await stores.close();
});

test('a failure right after an outage of a store is retried like any other', async () => {
  const clock = manualClock();
  const stores = await openAuthenticStores(tempDir(), randomBytes(32), clock, (error) => {
    throw error;
  });
  const failures: Error[] = [new StoreUnavailable('vault.db', 'busy'), new Error('the keys were rotated')];
  const tokens = createTokenRebuild({
    ...stores,
    ...usual,
    clock,
    openThread: async () => ({
      async build() {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        return { rows: [], events: 0, position: 0 };
      },
      compare: async () => ({ rows: 0, different: [], last: null }),
      forgetKeys: async () => undefined,
      close: async () => undefined,
    }),
    onError: (error) => {
      throw error;
    },
  });
  expect(await tokens.start(false)).toBe('started');
  await tokens.idle();
  expect(await stores.generations.rebuild()).toMatchObject({ phase: 'ended', outcome: 'done' });
  await stores.close();
});

test('a failed rebuild is dropped even if the store is unavailable at that moment', async () => {
  const clock = manualClock();
  const stores = await openAuthenticStores(tempDir(), randomBytes(32), clock, (error) => {
    throw error;
  });
  let outages = 1;
  const bug = new Error('a bug');
  const errors: unknown[] = [];
  const tokens = createTokenRebuild({
    ...stores,
    ...usual,
    clock,
    generations: {
      ...stores.generations,
      async save(rebuild) {
        outages -= 1;
        if (outages >= 0) throw new StoreUnavailable('vault.db', 'busy');
        return stores.generations.save(rebuild);
      },
    },
    openThread: async () => ({
      build: () => Promise.reject(bug),
      compare: async () => ({ rows: 0, different: [], last: null }),
      forgetKeys: async () => undefined,
      close: async () => undefined,
    }),
    onError: (error) => errors.push(error),
  });
  expect(await tokens.start(false)).toBe('started');
  await tokens.idle();
  expect(await stores.generations.rebuild()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  expect(errors).toEqual([bug, bug]);
  await stores.close();
});

test('a rebuild ends although there is always another event', async () => {
  const clock = manualClock();
  const stores = await openAuthenticStores(tempDir(), randomBytes(32), clock, (error) => {
    throw error;
  });
  let head = 1_000;
  let pages = 0;
  const errors: unknown[] = [];
  const tokens = createTokenRebuild({
    ...stores,
    ...usual,
    clock,
    log: { head: async () => head },
    openThread: async () => ({
      async build(_, after, limit) {
        pages += 1;
        if (pages > 100) throw new Error('the rebuild does not end');
        const position = Math.min(after + limit, head);
        head += 1;
        return { rows: [], events: position - after, position };
      },
      compare: async ({ generation }, which) => ({
        rows: 1,
        // A row that is being written counts as different at first.
        different: 'after' in which ? [`token-of-${generation}`] : [],
        last: null,
      }),
      forgetKeys: async () => undefined,
      close: async () => undefined,
    }),
    onError: (error) => errors.push(error),
  });
  expect(await tokens.start(false)).toBe('started');
  await tokens.idle();
  expect(errors).toEqual([]);
  expect(await stores.generations.rebuild()).toMatchObject({ phase: 'ended', outcome: 'done' });
  await stores.close();
});
