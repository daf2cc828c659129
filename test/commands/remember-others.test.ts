import { expect, test } from 'vitest';
import { rememberOthers } from '#src/commands/tokens/finish-erasure.js';
import { createTurns } from '#src/vault/turns.js';
import type { Vault } from '#src/vault/vault.js';

test('other requests run while a deletion by query reads the events that the shredder has not read yet', async () => {
  const verifyMs = 0.05;
  let longestMs = 0;
  let turnBeganAt = performance.now();
  let isDone = false;
  const nextTurn = () => {
    longestMs = Math.max(longestMs, performance.now() - turnBeganAt);
    turnBeganAt = performance.now();
    if (!isDone) setImmediate(nextTurn);
  };
  setImmediate(nextTurn);
  const vault = {
    work: { isOneTransaction: false },
    turns: createTurns(),
    unfinishedErasures: new Map(),
    keys: { checkpoint: async () => 0, keyStatuses: async () => [] },
    log: {
      async readClear(after: number, limit: number) {
        const until = performance.now() + limit * verifyMs;
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
  await new Promise(setImmediate);
  expect(longestMs).toBeLessThan(50);
});
