import { expect, test } from 'vitest';
import { rotateKeys } from '#src/jobs/rotate-keys.js';
import type { KeyRotation } from '#src/keys/key-ring.js';

const nothingLeft: KeyRotation = {
  isUnder: async () => true,
  rootCheck: async () => Buffer.alloc(44),
  begin: async () => 0,
  rewrap: async () => null,
  replaceRoot: async () => true,
  voidBefore: async () => null,
  settle: async () => undefined,
};

test('a rotation ends with a message if data keys cannot be rewrapped, and is repeated if they can be after all', async () => {
  let left = Number.POSITIVE_INFINITY;
  let rounds = 0;
  const rotation: KeyRotation = {
    ...nothingLeft,
    isUnder: async () => rounds > left,
    async replaceRoot() {
      rounds += 1;
      return rounds > left;
    },
  };
  const rotate = (limitMs: number) => rotateKeys(rotation, Buffer.alloc(32), undefined, { againMs: 1, limitMs });
  await expect(rotate(50)).rejects.toThrow('some data keys are still wrapped under old keys');
  expect(rounds).toBeGreaterThan(1);
  [left, rounds] = [2, 0];
  expect(await rotate(60_000)).toBe(true);
  expect(rounds).toBe(3);
});

test('the progress of a rotation reaches its total even if keys are destroyed after they were counted', async () => {
  let isReplaced = false;
  const rotation: KeyRotation = {
    ...nothingLeft,
    isUnder: async () => isReplaced,
    begin: async () => 3,
    rewrap: async (after) => (after === 0 ? { sequence: 7, looked: 2 } : null),
    replaceRoot: async () => {
      isReplaced = true;
      return true;
    },
  };
  const progress: unknown[] = [];
  await rotateKeys(rotation, Buffer.alloc(32), (state) => void progress.push(state));
  expect(progress[0]).toEqual({ done: 0, total: 3 });
  expect(progress.at(-1)).toEqual({ done: 2, total: 2 });
});
