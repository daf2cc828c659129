import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyPools } from '#src/keys/key-pools.js';

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
