import { afterEach, expect, test, vi } from 'vitest';
import { clusterClock } from '#src/compose/cluster/cluster-clock.js';

const usualMs = 2;
/** How long one `hello` takes, before MongoDB reads its clock and after. */
type Round = { readonly before: number; readonly after: number };

/** A cluster clock and the clock of MongoDB that it asks. Time stands still between the awaits of a test. */
async function onClockOfMongo(first: readonly Round[] = [], aheadMs = 0) {
  vi.useFakeTimers({ toFake: ['performance', 'Date', 'setInterval', 'setTimeout'] });
  const mongo = { aheadMs, rounds: [...first] };
  const time = () => Date.now() + mongo.aheadMs;
  const sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
  const errors: unknown[] = [];
  const opening = clusterClock(
    async () => {
      const { before, after } = mongo.rounds.shift() ?? { before: usualMs / 2, after: usualMs / 2 };
      await sleep(before);
      const read = time();
      await sleep(after);
      return read;
    },
    (error) => errors.push(error),
  );
  await vi.advanceTimersByTimeAsync(5_100);
  const clock = await opening;
  return { clock, mongo, errors, wrongMs: () => Math.abs(clock.now() - time()) };
}

afterEach(() => {
  vi.useRealTimers();
});

test('an answer that waited for an election leaves the clock where it was', async () => {
  const { mongo, wrongMs } = await onClockOfMongo();
  expect(wrongMs()).toBeLessThanOrEqual(usualMs);
  for (const round of [
    { before: 5_000, after: 1 },
    { before: 1, after: 5_000 },
  ]) {
    mongo.rounds.push(round);
    let worstMs = 0;
    for (let passedMs = 0; passedMs < 20_000; passedMs += 100) {
      await vi.advanceTimersByTimeAsync(100);
      worstMs = Math.max(worstMs, wrongMs());
    }
    expect(mongo.rounds).toEqual([]);
    expect(worstMs, JSON.stringify(round)).toBeLessThanOrEqual(usualMs);
  }
});

test('a clock that began with such answers is right by the next good one, and from the start where the machine is', async () => {
  const slow = { before: 1, after: 2_500 };
  const shifted = await onClockOfMongo([slow], -60_000);
  expect(shifted.wrongMs()).toBeLessThanOrEqual(usualMs);
  const right = await onClockOfMongo([slow, slow]);
  expect(right.wrongMs()).toBeLessThanOrEqual(usualMs);
});

test('the clock follows a primary whose clock is another, and says how far this machine is off', async () => {
  const { clock, mongo, wrongMs } = await onClockOfMongo();
  for (const aheadMs of [-90_000, 90_000]) {
    mongo.aheadMs = aheadMs;
    await vi.advanceTimersByTimeAsync(11_000);
    expect(wrongMs()).toBeLessThanOrEqual(usualMs);
    expect(Math.abs(clock.offMs() + aheadMs)).toBeLessThanOrEqual(usualMs);
  }
});
