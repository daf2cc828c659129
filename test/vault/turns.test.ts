import { expect, test, vi } from 'vitest';
import type { Steps } from '#src/domain/steps.js';
import { createTurns } from '#src/vault/turns.js';

/** Runs a computation with this many steps of 2 ms each. After each step, adds `name` to `done`. */
function* computing(name: string, steps: number, done: string[]): Steps<string> {
  for (let step = 0; step < steps; step += 1) {
    const end = performance.now() + 2;
    while (performance.now() < end);
    done.push(name);
    yield;
  }
  return name;
}

test('returns the result of a computation', async () => {
  expect(
    await createTurns()
      .begin('a')
      .run(computing('a', 3, [])),
  ).toBe('a');
});

test('all other work that is ready runs between two slices', async () => {
  let turns = 0;
  let isRunning = true;
  const count = (): void => {
    turns += 1;
    if (isRunning) setImmediate(count);
  };
  count();
  await createTurns()
    .begin('a')
    .run(computing('a', 20, []));
  isRunning = false;
  expect(turns).toBeGreaterThanOrEqual(20);
});

test('tenants take turns, no matter how many requests each of them has', async () => {
  const turns = createTurns();
  const done: string[] = [];
  const many = Array.from({ length: 30 }, () => turns.begin('many').run(computing('many', 10, done)));
  // By now, each computation has run its first slice. The first slice counts as short work, so no pause follows it.
  while (done.length < 30) await new Promise((resolve) => setImmediate(resolve));
  const begun = done.length;
  await turns.begin('one').run(computing('one', 10, done));
  const before = done.lastIndexOf('one');
  // The tenant with only one request gets every other slice. It needs ten slices, but the limit is higher, because
  // slices can take longer on a busy machine.
  expect(done.slice(begun, before).filter((name) => name === 'many').length).toBeLessThan(30);
  await Promise.all(many);
  expect(done).toHaveLength(310);
});

test('requests that begin together do not each delay everything else by a slice', async () => {
  const turns = createTurns();
  const done: string[] = [];
  const all = Array.from({ length: 30 }, () => turns.begin('many').run(computing('many', 2, done)));
  await new Promise((resolve) => setImmediate(resolve));
  // All requests that begin in the same turn of the event loop share a fixed amount of time. Two steps of 2 ms use it
  // up.
  expect(done.length).toBeLessThanOrEqual(4);
  await Promise.all(all);
  expect(done).toHaveLength(60);
});

test('an endless series of requests does not overtake a request that waits to begin', async () => {
  const turns = createTurns();
  const callers = 64;
  let begun = 0;
  let mostOvertaking = 0;
  function* brief(): Steps<void> {
    begun += 1;
    const end = performance.now() + 0.3;
    while (performance.now() < end);
    yield;
  }
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let requests = 0; requests < 20; requests += 1) {
        const before = begun;
        await turns.begin('a').run(brief());
        mostOvertaking = Math.max(mostOvertaking, begun - before);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );
  // If the vault did not order requests, this number could be more than nine times the number of callers. The limit is
  // not lower, because a request can become a long computation on a busy machine.
  expect(mostOvertaking).toBeLessThan(7 * callers);
});

test('while tenants share the thread, a new request does not overtake an earlier one of its tenant either', async () => {
  const turns = createTurns();
  const done: string[] = [];
  turns.begin('other');
  turns.begin('a').run(computing('first', 5, done));
  const second = turns.begin('a').run(computing('second', 1, done));
  const third = turns.begin('a').run(computing('third', 1, done));
  await second;
  await Promise.all([turns.begin('a').run(computing('fourth', 1, done)), third]);
  expect([...new Set(done)]).toEqual(['first', 'second', 'third', 'fourth']);
});

test('a request that begins does not have to wait until another tenant’s long work has rested', async () => {
  const turns = createTurns();
  const done: string[] = [];
  function* steps(name: string, count: number, ms: number): Steps<void> {
    for (let step = 0; step < count; step += 1) {
      const end = performance.now() + ms;
      while (performance.now() < end);
      done.push(name);
      yield;
    }
  }
  turns.begin('quiet');
  const long = turns.begin('hostile').run(steps('long', 4, 30));
  while (done.length < 2) await new Promise((resolve) => setImmediate(resolve));
  // The long computation now pauses for 100 ms. The next request uses up the time that all requests in the same turn of
  // the event loop share.
  const first = turns.begin('hostile').run(steps('first', 1, 6));
  let turnsOfLoop = 0;
  const count = (): void => {
    turnsOfLoop += 1;
    if (!done.includes('quiet')) setImmediate(count);
  };
  setImmediate(count);
  await turns.begin('quiet').run(steps('quiet', 1, 0));
  expect(turnsOfLoop).toBeLessThan(20);
  await Promise.all([long, first]);
});

test('a long request of a tenant that sends no others still rests while another tenant sends requests', async () => {
  const real = performance.now.bind(performance);
  let laterMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + laterMs);
  try {
    const turns = createTurns();
    const done: string[] = [];
    const long = turns.begin('hostile').run(computing('hostile', 150, done));
    laterMs = 2_000;
    const end = real() + 200;
    while (real() < end) {
      await turns.begin('quiet').run(computing('quiet', 0, []));
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Each slice takes at least 2 ms, and the pause after it takes at least 8 ms. Two slices run before the first
    // pause.
    expect(done.length).toBeLessThanOrEqual(22);
    await long;
  } finally {
    clock.mockRestore();
  }
});

test('before the slice is over, a pause does not wait', async () => {
  const work = createTurns().begin('a');
  const end = performance.now() + 2;
  while (performance.now() < end);
  const pause = work.pause();
  expect(pause).toBeInstanceOf(Promise);
  await pause;
  // On a busy machine, the end of a slice may be noticed late, so the test allows several tries.
  for (let tries = 0; work.pause() !== undefined; tries += 1) {
    expect(tries).toBeLessThan(100);
    await work.pause();
  }
});
