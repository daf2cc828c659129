import { afterEach, expect, test, vi } from 'vitest';
import { conflict, retryOnConflict } from '#src/commands/retry-on-conflict.js';
import { createStreamQueue } from '#src/domain/stream-queue.js';

afterEach(() => void vi.restoreAllMocks());

const vault = { streams: createStreamQueue(), random: { integer: () => 0 } } as never;

/** Runs a command whose attempts take this long, and which conflicts this many times. */
function run(attemptMs: number, conflicts: number): Promise<number> {
  let now = 0;
  let attempts = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return retryOnConflict(vault, ['stream'], async () => {
    now += attemptMs;
    attempts += 1;
    return attempts > conflicts ? attempts : conflict;
  });
}

test('a command is retried for five seconds', async () => {
  expect(await run(1_000, 4)).toBe(5);
  await expect(run(1_000, 5)).rejects.toMatchObject({ reason: 'race_not_settled' });
});

test('a command whose first attempt waited for another command for more than five seconds is retried once', async () => {
  expect(await run(6_000, 1)).toBe(2);
  await expect(run(6_000, 2)).rejects.toMatchObject({ reason: 'race_not_settled' });
});
