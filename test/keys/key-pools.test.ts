import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { createKeyPools } from '#src/keys/key-pools.js';
import type { DataKey } from '#src/keys/key-ring.js';

afterEach(() => void vi.useRealTimers());

test.each([
  ['if it has waited for more than ten minutes', 600_001],
  ['if the clock was set back, because its age is unknown', -600_001],
])('a key is not taken from the pool %s', async (_when, movedMs) => {
  let now = 10_000_000;
  const made: string[][] = [];
  const makeBlock = async (_tenantId: string, size: number) => {
    const keys = Array.from({ length: size }, () => ({ id: randomUUID(), key: randomBytes(32) }));
    made.push(keys.map(({ id }) => id));
    return keys;
  };
  const pools = createKeyPools(makeBlock, () => now);
  const first = await pools.take('tenant');
  expect(made[0]).toContain(first.id);
  now += movedMs;
  const second = await pools.take('tenant');
  expect(made[1]).toContain(second.id);
});

/** Threat: an attacker reads the memory of a process long after the last token was created. */
test('unused keys are zeroed within eleven minutes, even if no key is taken after that', async () => {
  vi.useFakeTimers();
  const made: DataKey[] = [];
  const makeBlock = async (_tenantId: string, size: number) => {
    const keys = Array.from({ length: size }, () => ({ id: randomUUID(), key: Buffer.alloc(32, 7) }));
    made.push(...keys);
    return keys;
  };
  const pools = createKeyPools(makeBlock, () => Date.now());
  // The seventh of eight keys starts the creation of the next block.
  const used = await Promise.all(Array.from({ length: 7 }, () => pools.take('tenant')));
  await vi.advanceTimersByTimeAsync(9 * 60_000);
  const inMemory = () => made.filter(({ key }) => key.some((byte) => byte !== 0)).length;
  expect([made.length, inMemory()]).toEqual([24, 24]);
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(inMemory()).toBe(used.length);
  expect((await pools.take('tenant')).key).toEqual(Buffer.alloc(32, 7));
  expect(inMemory()).toBeGreaterThan(used.length + 1);
  await pools.close();
  expect(inMemory()).toBe(used.length + 1);
  expect(vi.getTimerCount()).toBe(0);
});
