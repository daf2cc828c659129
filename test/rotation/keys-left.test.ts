import { expect, test } from 'vitest';
import { rotateKeys } from '#src/jobs/rotate-keys.js';
import type { KeyRotation } from '#src/keys/key-ring.js';

test('a rotation ends with a message if data keys cannot be rewrapped, and is repeated if they can be after all', async () => {
  let left = Number.POSITIVE_INFINITY;
  let rounds = 0;
  const rotation: KeyRotation = {
    isUnder: async () => rounds > left,
    rootCheck: async () => Buffer.alloc(44),
    begin: async () => 1,
    rewrap: async () => null,
    async replaceRoot() {
      rounds += 1;
      return rounds > left;
    },
    voidBefore: async () => null,
    settle: async () => undefined,
  };
  const rotate = (limitMs: number) => rotateKeys(rotation, Buffer.alloc(32), undefined, { againMs: 1, limitMs });
  await expect(rotate(50)).rejects.toThrow('some data keys are still wrapped under old keys');
  expect(rounds).toBeGreaterThan(1);
  [left, rounds] = [2, 0];
  expect(await rotate(60_000)).toBe(true);
  expect(rounds).toBe(3);
});
