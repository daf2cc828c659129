import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { http, makeVault, startService } from '../support/process.js';

const guesses = 30;
const rounds = 4;
const triesEachRound = 12;

test('kill -9 and restarts do not reset an application’s guess budget', async () => {
  const vault = await makeVault();
  const options = { env: { STRONGROOM_RATE_LIMIT_GUESSES: String(guesses) } };
  const answers: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const service = await startService(vault.flags, options);
    const tried = Array.from({ length: triesEachRound }, () =>
      http('POST', `${service.address}/detokenize`, { key: vault.key, body: `{{ ${randomUUID()} }}` }),
    );
    for (const { status } of await Promise.all(tried)) answers.push(status);
    expect(await service.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
  }
  const told = answers.filter((status) => status === 400).length;
  // A crash can lose the unused part of a reserved block. A block is a twentieth of the remaining budget.
  expect(told).toBeGreaterThan(guesses - rounds * 2);
  expect(told).toBeLessThanOrEqual(guesses);
  expect(answers.filter((status) => status === 429)).toHaveLength(rounds * triesEachRound - told);
});
