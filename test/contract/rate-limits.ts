import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Limit, RateLimits } from '#src/ports/rate-limits.js';
import { manualClock } from '../support/manual-clock.js';

type Open = (clock: ReturnType<typeof manualClock>) => Promise<RateLimits>;

const limit: Limit = { name: 'requests', max: 5, windowMs: 10_000 };

/** Defines the tests that every adapter for `RateLimits` must pass. */
export function rateLimitsContract(name: string, open: Open): void {
  const on = (run: (limits: RateLimits, clock: ReturnType<typeof manualClock>) => Promise<void>) => async () => {
    const clock = manualClock();
    await run(await open(clock), clock);
  };

  describe(`RateLimits: ${name}`, () => {
    test(
      'a window begins with the first use, and all uses in the window expire together',
      on(async (limits, clock) => {
        const subject = randomUUID();
        clock.advance(7_777);
        expect(await limits.use(limit, subject, 1)).toEqual({ used: 1, endsInMs: 10_000 });
        clock.advance(9_999);
        expect(await limits.use(limit, subject, 3)).toEqual({ used: 4, endsInMs: 1 });
        clock.advance(1);
        expect(await limits.use(limit, subject, 1)).toEqual({ used: 1, endsInMs: 10_000 });
      }),
    );

    test(
      'uses above the limit are counted as well, because the caller decides what to reject',
      on(async (limits) => {
        const subject = randomUUID();
        expect((await limits.use(limit, subject, 7)).used).toBe(7);
      }),
    );

    test(
      'subjects are counted separately, and so are the limits of one subject',
      on(async (limits) => {
        const subject = randomUUID();
        await limits.use(limit, subject, 3);
        expect((await limits.use(limit, randomUUID(), 1)).used).toBe(1);
        expect((await limits.use({ ...limit, name: 'auth_failures', windowMs: 3_600_000 }, subject, 1)).used).toBe(1);
      }),
    );

    test(
      'reading a counter does not begin a window',
      on(async (limits, clock) => {
        const subject = randomUUID();
        expect(await limits.use(limit, subject, 0)).toEqual({ used: 0, endsInMs: 0 });
        clock.advance(9_000);
        await limits.use(limit, subject, 2);
        expect(await limits.use(limit, subject, 0)).toEqual({ used: 2, endsInMs: 10_000 });
      }),
    );

    test(
      'uses that are given back can be used again, and never make a counter negative or affect a later window',
      on(async (limits, clock) => {
        const subject = randomUUID();
        await limits.use(limit, subject, 4);
        expect((await limits.use(limit, subject, -3)).used).toBe(1);
        expect((await limits.use(limit, subject, -3)).used).toBe(0);
        clock.advance(10_000);
        await limits.use(limit, subject, -3);
        expect((await limits.use(limit, subject, 1)).used).toBe(1);
      }),
    );

    test(
      'all concurrent uses are counted',
      on(async (limits) => {
        const subject = randomUUID();
        const counts = await Promise.all(Array.from({ length: 50 }, () => limits.use(limit, subject, 1)));
        expect(counts.map(({ used }) => used).sort((a, b) => a - b)).toEqual(counts.map((_, index) => index + 1));
      }),
    );
  });
}
