import { expect, test } from 'vitest';
import { repeated } from '#src/jobs/repeated.js';

/** Returns the times at which work began that takes `workMs` each time. Every 100 ms, the work is done if it is due. */
async function beginnings(workMs: number, fails: boolean, upTo: number): Promise<readonly number[]> {
  let now = 0;
  const began: number[] = [];
  const step = repeated({ now: () => now, intervalMs: 10_000, retryMs: 1_000, retryMsMax: 10_000 }, async () => {
    began.push(now);
    now += workMs;
    if (fails) throw new Error('the store is unavailable');
  });
  for (; now < upTo; now += 100) await step().catch(() => undefined);
  return began;
}

test('work that takes longer than its interval waits for the whole interval before it is repeated', async () => {
  expect(await beginnings(15_000, false, 60_000)).toEqual([0, 25_000, 50_000]);
});

test('work that takes 5 s to fail waits after each failure, twice as long as before, up to the longest wait', async () => {
  const began = await beginnings(5_000, true, 70_000);
  const waits = began.slice(1).map((at, index) => at - (began[index] ?? 0) - 5_000);
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test('unfinished work continues with the next call, and is repeated after its interval when it is finished', async () => {
  let now = 0;
  const began: number[] = [];
  const step = repeated({ now: () => now, intervalMs: 10_000, retryMs: 1_000, retryMsMax: 10_000 }, async () => {
    began.push(now);
    return began.length < 4 ? 'unfinished' : null;
  });
  for (; now < 15_000; now += 100) await step();
  expect(began).toEqual([0, 100, 200, 300, 10_300]);
});

test('work that succeeds again is next repeated after its interval, and its first wait is short again', async () => {
  let now = 0;
  let fails = true;
  const began: number[] = [];
  const step = repeated({ now: () => now, intervalMs: 10_000, retryMs: 1_000, retryMsMax: 10_000 }, async () => {
    began.push(now);
    if (fails) throw new Error('the store is unavailable');
  });
  for (; now < 30_000; now += 100) {
    fails = now < 2_000 || now > 10_000;
    await step().catch(() => undefined);
  }
  expect(began).toEqual([0, 1_000, 3_000, 13_000, 14_000, 16_000, 20_000, 28_000]);
});
