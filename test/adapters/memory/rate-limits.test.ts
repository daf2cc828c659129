import { expect, test } from 'vitest';
import { memoryRateLimits } from '#src/adapters/memory/memory-rate-limits.js';
import type { Limit } from '#src/ports/rate-limits.js';
import { manualClock } from '../../support/manual-clock.js';

const failures: Limit = { name: 'auth_failures', max: 5, windowMs: 10_000 };
const requests: Limit = { ...failures, name: 'requests' };

test('a flood of new addresses evicts only the oldest addresses, never an application’s counter', async () => {
  const limits = memoryRateLimits(manualClock(), 100);
  await limits.use(requests, 'application', 3);
  for (let address = 0; address < 1_000; address += 1) await limits.use(failures, `address-${address}`, 1);
  expect((await limits.use(failures, 'address-899', 0)).used).toBe(0);
  expect((await limits.use(failures, 'address-900', 0)).used).toBe(1);
  expect((await limits.use(failures, 'address-999', 0)).used).toBe(1);
  expect((await limits.use(requests, 'application', 0)).used).toBe(3);
});

test('a window that began before the clock was set back does not stay active for hours', async () => {
  const clock = manualClock();
  const limits = memoryRateLimits(clock);
  await limits.use(requests, 'application', 5);
  clock.advance(-3_600_000);
  expect(await limits.use(requests, 'application', 1)).toEqual({ used: 1, endsInMs: 10_000 });
});

test('expired windows are evicted before active ones', async () => {
  const clock = manualClock();
  const limits = memoryRateLimits(clock, 3);
  await limits.use(failures, 'old-1', 1);
  await limits.use(failures, 'old-2', 1);
  clock.advance(9_999);
  await limits.use(failures, 'young', 1);
  clock.advance(1);
  for (const address of ['new-1', 'new-2']) await limits.use(failures, address, 1);
  expect((await limits.use(failures, 'young', 0)).used).toBe(1);
});
