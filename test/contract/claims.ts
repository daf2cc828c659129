import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { UnitOfWork } from '#src/ports/unit-of-work.js';
import type { ClaimResult, FinishedClaim } from '#src/views/finished-claim.js';
import type { Stored } from '#src/views/row-mac.js';
import { aDay, aHash, aStream, atNoon, type OpenStores, onStores } from './support.js';

/** Defines the tests that every adapter for `Claims` must pass. */
export function claimsContract(name: string, open: OpenStores): void {
  const on = (run: Parameters<typeof onStores>[1]) => onStores(open, run);

  describe(`Claims: ${name}`, () => {
    test(
      'the first caller owns the key until it releases it',
      on(async ({ claims }) => {
        const [cmd, other] = [aHash(), aHash()];
        const states = await Promise.all(Array.from({ length: 20 }, () => claims.begin(cmd, 0)));
        expect(states.map(({ state }) => state).sort()).toEqual(['fresh', ...states.slice(1).map(() => 'in_flight')]);
        expect(await claims.begin(other, 0)).toEqual({ state: 'fresh' });
        await claims.release(cmd);
        expect(await claims.begin(cmd, 0)).toEqual({ state: 'fresh' });
        expect(await claims.begin(other, 0)).toEqual({ state: 'in_flight' });
      }),
    );

    test(
      'a finished claim returns its result before and after a restart, and a release does not remove the claim',
      on(async ({ work, claims, reopen }) => {
        const [cmd, result] = [aHash(), aResult()];
        await claims.begin(cmd, 0);
        const claim = await finish(work, cmd, result, atNoon);
        await claims.release(cmd);
        expect(await claims.begin(cmd, atNoon)).toEqual({ state: 'done', claim });
        expect(await (await reopen()).claims.begin(cmd, atNoon)).toEqual({ state: 'done', claim });
      }),
    );

    test(
      'a claim that finished before the limit counts as absent, and the key can be claimed again',
      on(async ({ work, claims }) => {
        const [cmd, result] = [aHash(), aResult()];
        await finish(work, cmd, aResult(), atNoon);
        expect(await claims.begin(cmd, atNoon + 1)).toEqual({ state: 'fresh' });
        expect(await claims.begin(cmd, atNoon + 1)).toEqual({ state: 'in_flight' });
        const claim = await finish(work, cmd, result, atNoon + aDay);
        await claims.release(cmd);
        expect(await claims.begin(cmd, atNoon + 1)).toEqual({ state: 'done', claim });
      }),
    );

    test(
      'a claim without a result, from a process that died, is removed once it is older than the limit',
      on(async ({ claims, reopen }) => {
        const cmd = aHash();
        expect(await claims.begin(cmd, 0)).toEqual({ state: 'fresh' });
        const { claims: later } = await reopen();
        await later.forget(Date.now() + aDay);
        expect(await later.begin(cmd, 0)).toEqual({ state: 'fresh' });
      }),
    );

    test(
      'only claims that finished before the limit are removed',
      on(async ({ work, claims }) => {
        const [old, young, result] = [aHash(), aHash(), aResult()];
        await finish(work, old, result, atNoon - 1);
        const claim = await finish(work, young, result, atNoon);
        await claims.forget(atNoon);
        expect(await claims.begin(old, 0)).toEqual({ state: 'fresh' });
        expect(await claims.begin(young, 0)).toEqual({ state: 'done', claim });
      }),
    );

    test(
      'pages contain every finished claim with its MAC, once and in order',
      on(async ({ work, claims }) => {
        const cmds = Array.from({ length: 5 }, aHash).sort();
        const finished: Stored<FinishedClaim>[] = [];
        for (const cmd of cmds) finished.push(await finish(work, cmd, aResult(), atNoon));
        await claims.begin(aHash(), 0);
        expect(await claims.page('', 3)).toEqual(finished.slice(0, 3));
        expect(await claims.page(cmds[2] ?? '', 3)).toEqual(finished.slice(3));
      }),
    );
  });
}

function aResult(): ClaimResult {
  return { tokens: [0, 3].map((createdRevision) => ({ stream: aStream(), createdRevision, deduplicated: true })) };
}

async function finish(
  work: UnitOfWork,
  cmd: string,
  result: ClaimResult,
  time: number,
): Promise<Stored<FinishedClaim>> {
  const claim = { cmd, result, time, mac: randomBytes(32) };
  expect(await work.commit({ writes: [], claim })).toEqual({ outcome: 'committed' });
  return claim;
}
