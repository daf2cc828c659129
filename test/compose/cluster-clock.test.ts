import { afterEach, expect, test, vi } from 'vitest';
import { clusterClock } from '#src/compose/cluster/cluster-clock.js';
import type { ClockRecord } from '#src/ports/clock-record.js';

const usualMs = 2;
/** How long one `hello` takes before and after MongoDB reads its clock, in ms. */
type Round = { readonly before: number; readonly after: number };

/** Creates a cluster clock, and the MongoDB clock that it reads. Time passes only while a test awaits something. */
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
  return { clock, mongo, errors, time };
}

type Opened = Awaited<ReturnType<typeof onClockOfMongo>>;

/**
 * Advances the time in small steps. After each step, checks that MongoDB's time is within the interval of the cluster
 * clock. Returns the largest distance between MongoDB's time and one end of the interval.
 */
async function within({ clock, time }: Opened, ms: number): Promise<number> {
  let widestMs = 0;
  for (let passedMs = 0; passedMs < ms; passedMs += 10) {
    await vi.advanceTimersByTimeAsync(10);
    expect(clock.latest()).toBeGreaterThanOrEqual(time());
    expect(clock.earliest()).toBeLessThanOrEqual(time());
    widestMs = Math.max(widestMs, clock.latest() - time(), time() - clock.earliest());
  }
  return widestMs;
}

afterEach(() => {
  vi.useRealTimers();
});

test('while nothing happens, the clock is a few milliseconds off, and MongoDB’s time is never outside its interval', async () => {
  const opened = await onClockOfMongo();
  expect(await within(opened, 60_000)).toBeLessThanOrEqual(6);
  expect(opened.errors).toEqual([]);
});

test('a response that waited for an election does not change the clock, and the interval grows only with drift', async () => {
  const opened = await onClockOfMongo();
  for (const round of [
    { before: 5_000, after: 1 },
    { before: 1, after: 5_000 },
  ]) {
    opened.mongo.rounds.push(...Array.from({ length: 5 }, () => round));
    expect(await within(opened, 20_000), JSON.stringify(round)).toBeLessThanOrEqual(30);
    expect(opened.mongo.rounds).toEqual([]);
  }
});

test('while no response arrives, the interval grows, and the next response makes it small again', async () => {
  const opened = await onClockOfMongo();
  opened.mongo.rounds.push(...Array.from({ length: 60 }, () => ({ before: 60_000, after: 0 })));
  await within(opened, 55_000);
  const { clock } = opened;
  expect(clock.uncertaintyMs()).toBeGreaterThan(50);
  expect(clock.uncertaintyMs()).toBeLessThan(70);
  await within(opened, 120_000);
  expect(clock.uncertaintyMs()).toBeLessThanOrEqual(6);
});

test('while MongoDB does not respond, the log gets one error per minute', async () => {
  const { mongo, errors } = await onClockOfMongo();
  const failed = new Error('MongoDB is down');
  mongo.rounds.push(
    ...Array.from({ length: 90 }, () => ({
      get before(): number {
        throw failed;
      },
      after: 0,
    })),
  );
  await vi.advanceTimersByTimeAsync(59_000);
  expect(errors).toEqual([failed]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(errors).toEqual([failed, failed]);
});

test('if responses are slow from the start, the clock is uncertain until a fast response arrives', async () => {
  const slow = { before: 1, after: 2_500 };
  const shifted = await onClockOfMongo([slow], -60_000);
  expect(shifted.clock.uncertaintyMs()).toBeLessThanOrEqual(6);
  const unsure = await onClockOfMongo([
    { before: 1, after: 2_549 },
    { before: 1, after: 2_549 },
    { before: 1, after: 4_990 },
  ]);
  expect(unsure.clock.uncertaintyMs()).toBeGreaterThan(1_000);
  expect(unsure.clock.latest()).toBeGreaterThanOrEqual(unsure.time());
  expect(unsure.clock.earliest()).toBeLessThanOrEqual(unsure.time());
  await within(unsure, 8_000);
  expect(unsure.clock.uncertaintyMs()).toBeLessThanOrEqual(6);
});

test('the clock follows a primary with another time and reports how far this machine is off, and meanwhile destroys nothing', async () => {
  const opened = await onClockOfMongo();
  const { clock, mongo, time } = opened;
  for (const aheadMs of [-90_000, 90_000]) {
    const agreedAt = clock.earliest();
    mongo.aheadMs = aheadMs;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(Math.abs(clock.now() - time())).toBeLessThanOrEqual(6);
    expect(Math.abs(clock.offMs() + aheadMs)).toBeLessThanOrEqual(6);
    expect(clock.isTrusted()).toBe(false);
    await vi.advanceTimersByTimeAsync(600_000);
    // While the two clocks disagree, nothing may become due that was not due when they last agreed.
    expect(clock.earliest()).toBeLessThanOrEqual(Math.max(agreedAt + 2_000, 0));
    mongo.aheadMs = 0;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(clock.isTrusted()).toBe(true);
    expect(time() - clock.earliest()).toBeLessThanOrEqual(6);
  }
});

test('if MongoDB’s clock steps back, a code does not live for more than its hour', async () => {
  const opened = await onClockOfMongo();
  const { clock, mongo } = opened;
  const written = clock.now() + clock.codesAhead();
  await vi.advanceTimersByTimeAsync(10_000);
  mongo.aheadMs = -5_000;
  await vi.advanceTimersByTimeAsync(10_000);
  const oldMs = clock.latestForCodes() - written;
  expect(oldMs).toBeGreaterThanOrEqual(20_000 - 6);
  expect(oldMs).toBeLessThanOrEqual(20_000 + 30);
});

test('a step of MongoDB’s clock while the record is being loaded counts for the age of codes', async () => {
  const opened = await onClockOfMongo();
  const { clock, mongo } = opened;
  let loadMs = 0;
  const records = {
    load: () => new Promise<ClockRecord | null>((resolve) => setTimeout(() => resolve(null), loadMs)),
    save: async () => undefined,
  };
  const recording = clock.recordIn(records, (error) => opened.errors.push(error));
  await vi.advanceTimersByTimeAsync(1);
  await recording;
  loadMs = 3_000;
  await vi.advanceTimersByTimeAsync(60_000);
  mongo.aheadMs = -1_500;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(clock.codesAhead()).toBeGreaterThanOrEqual(1_500 - 6);
});

test('if the clock starts behind the newest recorded time, all codes are due; if it agrees with this machine, nothing is delayed', async () => {
  const saved: ClockRecord[] = [];
  const start = Date.now();
  const recorded = (newest: number, codesAhead: number) => ({
    load: async () => saved.at(-1) ?? { newest, codesAhead, hold: null },
    save: async (record: ClockRecord) => void saved.push(record),
  });
  const behind = await onClockOfMongo();
  await behind.clock.recordIn(recorded(start + 600_000, 7), (error) => behind.errors.push(error));
  // Even a code that was stored at the newest recorded time, to be kept for a full hour, must already be due.
  expect(behind.clock.latestForCodes()).toBeGreaterThanOrEqual(start + 600_000 + 7 + 3_600_000);
  expect(saved.at(-1)).toMatchObject({ codesAhead: behind.clock.codesAhead(), hold: null });
  saved.length = 0;
  const ahead = await onClockOfMongo();
  await ahead.clock.recordIn(recorded(start - 30 * 86_400_000, 0), (error) => ahead.errors.push(error));
  expect(ahead.time() - ahead.clock.earliest()).toBeLessThanOrEqual(6);
  expect(ahead.clock.codesAhead()).toBe(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(saved.length).toBe(2);
  expect([...behind.errors, ...ahead.errors]).toEqual([]);
});

test('a clock that is stopped does not report that its last comparison failed, because its connection was closed', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'Date', 'setInterval', 'setTimeout'] });
  let ask = async () => Date.now();
  const errors: unknown[] = [];
  const clock = await clusterClock(
    () => ask(),
    (error) => errors.push(error),
  );
  ask = () => new Promise((_, reject) => setTimeout(reject, 500, new Error('the connection was closed')));
  await vi.advanceTimersByTimeAsync(1_100);
  clock.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(errors).toEqual([]);
});
