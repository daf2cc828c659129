import { expect, test } from 'vitest';
import { rememberOthers } from '#src/commands/tokens/finish-erasure.js';
import { createTurns } from '#src/vault/turns.js';
import { createUnfinishedErasures } from '#src/vault/unfinished-erasures.js';
import type { Vault } from '#src/vault/vault.js';

const sliceMs = 1;

test('other requests run while a deletion by query reads the events that the shredder has not read yet', async () => {
  let isDone = false;
  let turn = 0;
  const nextTurn = () => {
    turn += 1;
    if (!isDone) setImmediate(nextTurn);
  };
  setImmediate(nextTurn);
  /** The number of events that were read in each turn of the event loop. */
  const readIn = new Map<number, number>();
  const vault = {
    work: { isOneTransaction: false },
    turns: createTurns(),
    unfinishedErasures: createUnfinishedErasures(),
    keys: { checkpoint: async () => 0, keyStatuses: async () => [] },
    log: {
      async readClear(after: number, limit: number) {
        readIn.set(turn, (readIn.get(turn) ?? 0) + limit);
        // The verification of a page takes longer than a slice.
        const until = performance.now() + 2 * sliceMs;
        while (performance.now() < until);
        return Array.from({ length: limit }, (_, index) => ({
          position: after + index + 1,
          tenantId: 't',
          stream: 's',
        }));
      },
    },
  } as object as Vault;
  await rememberOthers(vault, 't');
  isDone = true;
  const read = [...readIn.values()];
  expect(read.reduce((sum, count) => sum + count, 0)).toBe(10_000);
  expect(Math.max(...read)).toBeLessThanOrEqual(200);
});
