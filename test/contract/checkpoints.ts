import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Checkpoints } from '#src/ports/checkpoints.js';

/** Defines the tests that every adapter for `Checkpoints` must pass. */
export function checkpointsContract(
  name: string,
  open: () => Promise<{ readonly checkpoints: Checkpoints; close(): Promise<void> }>,
): void {
  const on = (run: (checkpoints: Checkpoints) => Promise<void>) => async () => {
    const { checkpoints, close } = await open();
    try {
      await run(checkpoints);
    } finally {
      await close();
    }
  };

  describe(`Checkpoints: ${name}`, () => {
    test(
      'one process leads and keeps its lease under the same epoch, and no other process gets the lease',
      on(async (checkpoints) => {
        const lead = await checkpoints.lead('tokens', 'a', 60_000);
        expect(lead).toEqual({ name: 'tokens', epoch: 1 });
        expect(await checkpoints.lead('tokens', 'b', 60_000)).toBeNull();
        expect(await checkpoints.lead('tokens', 'a', 60_000)).toEqual(lead);
        expect(await checkpoints.lead('another', 'b', 60_000)).toEqual({ name: 'another', epoch: 1 });
      }),
    );

    test(
      'a renewal extends the lease',
      on(async (checkpoints) => {
        const lead = await checkpoints.lead('tokens', 'a', 50);
        expect(await checkpoints.lead('tokens', 'a', 60_000)).toEqual(lead);
        await wait(120);
        expect(await checkpoints.lead('tokens', 'b', 60_000)).toBeNull();
      }),
    );

    test(
      'only one of 20 concurrent processes leads',
      on(async (checkpoints) => {
        const leads = await Promise.all([...Array(20).keys()].map((i) => checkpoints.lead('tokens', `h${i}`, 60_000)));
        expect(leads.filter((lead) => lead !== null)).toHaveLength(1);
      }),
    );

    test(
      'when a lease expires, another process leads under a new epoch, and the old leader can no longer write',
      on(async (checkpoints) => {
        const first = await checkpoints.lead('tokens', 'a', 50);
        if (first === null) throw new Error('nobody else leads');
        expect(await checkpoints.save(first, 10)).toBe(true);
        await wait(120);
        const second = await checkpoints.lead('tokens', 'b', 60_000);
        expect(second).toEqual({ name: 'tokens', epoch: first.epoch + 1 });
        if (second === null) throw new Error('the lease had ended');
        expect(await checkpoints.save(first, 11)).toBe(false);
        expect(await checkpoints.position('tokens')).toBe(10);
        expect(await checkpoints.save(second, 12)).toBe(true);
        expect(await checkpoints.position('tokens')).toBe(12);
      }),
    );

    test(
      'a leader that resigns gives up its lease immediately, and a former leader cannot resign again',
      on(async (checkpoints) => {
        const first = await checkpoints.lead('tokens', 'a', 60_000);
        if (first === null) throw new Error('nobody else leads');
        await checkpoints.resign(first);
        const second = await checkpoints.lead('tokens', 'b', 60_000);
        expect(second?.epoch).toBe(2);
        await checkpoints.resign(first);
        expect(await checkpoints.lead('tokens', 'c', 60_000)).toBeNull();
      }),
    );

    test(
      'whether a process leads can be read, and is false once the leader resigned or its lease expired',
      on(async (checkpoints) => {
        const isLed = () => checkpoints.isLed('tokens', 60_000);
        expect(await isLed()).toBe(false);
        const lead = await checkpoints.lead('tokens', 'a', 60_000);
        expect([await isLed(), await checkpoints.isLed('another', 60_000)]).toEqual([true, false]);
        if (lead === null) throw new Error('no other process leads');
        await checkpoints.resign(lead);
        expect(await isLed()).toBe(false);
        await checkpoints.lead('tokens', 'b', 50);
        await wait(120);
        expect(await isLed()).toBe(false);
      }),
    );

    test(
      'a projection that has not started yet is at position 0',
      on(async (checkpoints) => {
        expect(await checkpoints.position('tokens')).toBe(0);
      }),
    );
  });
}
