import { randomBytes, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { rotateKeys } from '#src/jobs/rotate-keys.js';
import type { KeyRing, KeyRotation } from '#src/keys/key-ring.js';
import { RotationRefused } from '#src/keys/rotation.js';
import { earliestNow } from '#src/ports/clock.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { type OpenStores, onTenant } from './support.js';

/** Defines the key rotation tests that every adapter for `KeyStore` must pass. */
export function keyRotationContract(name: string, open: OpenStores): void {
  const on = (run: Parameters<typeof onTenant>[1]) => onTenant(open, run);

  describe(`rotation: ${name}`, () => {
    test(
      'after a rotation, all keys open in the same process; after a restart, they open with the new root key, not with the old one',
      on(async ({ keys, tenantId, reopen }) => {
        const other = randomUUID();
        await keys.createTenant(other);
        const before = await seen(keys, [tenantId, other]);
        const made = new Map<string, string>();
        for (let count = 0; count < 700; count += 1) {
          const { id, key } = await keys.create(count % 7 === 0 ? other : tenantId);
          made.set(id, key.toString('hex'));
        }
        const next = randomBytes(32);
        expect(await keys.rotation.isUnder(next)).toBe(false);
        const progress: { done: number; total: number }[] = [];
        await rotateKeys(keys.rotation, next, (state) => void progress.push(state));
        expect(await keys.rotation.isUnder(next)).toBe(true);
        expect(progress.at(-1)?.done).toBeGreaterThanOrEqual(700);
        expect(progress.at(-1)?.done).toBe(progress.at(-1)?.total);

        expect(await seen(keys, [tenantId, other])).toEqual(before);
        await expectOpen(keys, [tenantId, other], made);
        await keys.create(tenantId);
        await keys.createTenant(randomUUID());
        await expect(reopen()).rejects.toThrow('this root key does not open');
        const { keys: again } = await reopen(next);
        expect(await seen(again, [tenantId, other])).toEqual(before);
        await expectOpen(again, [tenantId, other], made);
        await again.create(other);
      }),
    );

    test(
      'a tenant that has no data keys yet can create some after a rotation',
      on(async ({ keys, tenantId, reopen }) => {
        const next = randomBytes(32);
        await rotateKeys(keys.rotation, next);
        const { id, key } = await keys.create(tenantId);
        const { keys: again } = await reopen(next);
        expect(await opened(again, tenantId, id)).toBe(key.toString('hex'));
      }),
    );

    test(
      'a key that was destroyed before or during a rotation stays destroyed',
      on(async ({ keys, tenantId, reopen }) => {
        const [first, second, third] = [
          await keys.create(tenantId),
          await keys.create(tenantId),
          await keys.create(tenantId),
        ];
        const end = (keyId: string) => keys.destroy([{ keyId, eventId: randomUUID() }]);
        await end(first.id);
        const next = randomBytes(32);
        await keys.rotation.begin(await keys.rotation.rootCheck());
        await Promise.all([keys.rotation.rewrap(0), end(second.id)]);
        await rotateKeys(keys.rotation, next);
        const { keys: again } = await reopen(next);
        expect(await opened(again, tenantId, first.id)).toBe('destroyed');
        expect(await opened(again, tenantId, second.id)).toBe('destroyed');
        expect(await opened(again, tenantId, third.id)).toBe(third.key.toString('hex'));
      }),
    );

    test(
      'tenants and keys that are created, read or destroyed during a rotation are neither lost nor revived',
      on(async ({ keys, tenantId, reopen }) => {
        const made = new Map<string, string>();
        const ended: string[] = [];
        for (let count = 0; count < 1_200; count += 1) {
          const { id, key } = await keys.create(tenantId);
          made.set(id, key.toString('hex'));
        }
        const next = randomBytes(32);
        let rotated = false;
        const rotation = rotateKeys(keys.rotation, next).finally(() => {
          rotated = true;
        });
        const gone = randomUUID();
        await keys.createTenant(gone);
        const lost = await keys.create(gone);
        const load = async () => {
          for (let turn = 0; turn < 40 || !rotated; turn += 1) {
            await nextTurn();
            const { id, key } = await keys.create(tenantId);
            made.set(id, key.toString('hex'));
            if (turn % 3 !== 0) continue;
            made.delete(id);
            ended.push(id);
            await keys.destroy([{ keyId: id, eventId: randomUUID() }]);
          }
        };
        const read = async () => {
          for (let turn = 0; turn < 40 || !rotated; turn += 1) {
            await nextTurn();
            const [id, hex] = [...made][turn % made.size] ?? ['', ''];
            expect([id, await opened(keys, tenantId, id)]).toEqual([id, hex]);
          }
        };
        await Promise.all([rotation, load(), load(), read(), keys.destroyTenant(gone, randomUUID())]);
        await expectOpen(keys, [tenantId], made);
        const { keys: again } = await reopen(next);
        await expectOpen(again, [tenantId], made);
        for (const id of ended) expect(await opened(again, tenantId, id)).toBe('destroyed');
        expect(await opened(again, gone, lost.id)).toBe('destroyed');
        expect(await again.tenantKeys(gone)).toBeNull();
      }),
    );

    test(
      'a rotation that is interrupted at any point leaves keys that open with the current root key, and can continue',
      on(async ({ keys: first, tenantId, reopen }) => {
        const made = new Map<string, string>();
        for (let count = 0; count < 1_100; count += 1) {
          const { id, key } = await first.create(tenantId);
          made.set(id, key.toString('hex'));
        }
        let keys = first;
        for (const next of [randomBytes(32), randomBytes(32)]) {
          const before = await seen(keys, [tenantId]);
          await keys.rotation.begin(await keys.rotation.rootCheck());
          ({ keys } = await reopen());
          await expectOpen(keys, [tenantId], made);
          await keys.rotation.begin(await keys.rotation.rootCheck());
          const step = await keys.rotation.rewrap(0);
          expect(step?.looked).toBeLessThan(1_100);
          ({ keys } = await reopen());
          await expectOpen(keys, [tenantId], made);
          const from = await keys.rotation.rootCheck();
          expect(await keys.rotation.replaceRoot(next, from), 'data keys are left under old ones').toBe(false);
          await rotateKeys(keys.rotation, next);
          ({ keys } = await reopen(next));
          await rotateKeys(keys.rotation, next);
          await expectOpen(keys, [tenantId], made);
          expect(await seen(keys, [tenantId])).toEqual(before);
        }
      }),
    );

    test(
      'a rotation stops at once if the keys are under a root key that this process cannot read',
      on(async ({ keys: { rotation } }) => {
        const meanwhile = randomBytes(32);
        const begin = async () => {
          await rotateKeys(rotation, meanwhile);
          throw new StoreUnavailable('key store', 'root_key_replaced');
        };
        await expect(rotateKeys({ ...rotation, begin }, randomBytes(32))).rejects.toThrow(
          'put a different root key into use',
        );
      }),
    );

    test(
      'a rotation does not report damaged keys if others complete a rotation after it has read the keys',
      on(async ({ keys: { rotation } }) => {
        const completed = randomBytes(32);
        const replaceRoot = async () => {
          await rotateKeys(rotation, completed);
          throw new RotationRefused('the key does not open');
        };
        expect(await rotateKeys({ ...rotation, replaceRoot }, completed), 'others have completed it').toBe(true);
        const another = rotateKeys({ ...rotation, replaceRoot }, randomBytes(32));
        await expect(another).rejects.toThrow('the key does not open');
        const rewrap = async () => {
          await rotateKeys(rotation, randomBytes(32));
          throw new RotationRefused('the key does not open');
        };
        const overtaken = rotateKeys({ ...rotation, rewrap }, randomBytes(32));
        await expect(overtaken).rejects.toThrow('put a different root key into use');
      }),
    );

    test(
      'a rotation that is suspended while others complete it and rotate again does not bring back the older root key',
      on(async ({ keys, tenantId, reopen }) => {
        const { id, key } = await keys.create(tenantId);
        const { rotation } = keys;
        const meanwhile = async (...roots: readonly Buffer[]) => {
          for (const root of roots) await rotateKeys(rotation, root);
        };
        const [one, two, three, four] = [randomBytes(32), randomBytes(32), randomBytes(32), randomBytes(32)];
        const inRewrap = { ...rotation, begin: async () => meanwhile(one, two).then(() => 1) };
        await expect(rotateKeys(inRewrap, one)).rejects.toThrow('put a different root key into use');
        const atItsEnd = { ...rotation, settle: async () => meanwhile(four) };
        await expect(rotateKeys(atItsEnd, three)).rejects.toThrow('put a different root key into use');
        const completed = { ...rotation, begin: async () => meanwhile(one).then(() => 1) };
        expect(await rotateKeys(completed, one), 'others have completed it').toBe(true);
        const { keys: again } = await reopen(one);
        await expectOpen(again, [tenantId], new Map([[id, key.toString('hex')]]));
      }),
    );

    test(
      'copies from before the last completed rotation began are useless, even if the rotation was interrupted and resumed',
      on(async ({ keys: first, tenantId, clock, reopen }) => {
        await first.create(tenantId);
        expect(await first.rotation.voidBefore()).toBeNull();
        const one = randomBytes(32);
        const began = earliestNow(clock);
        await first.rotation.begin(await first.rotation.rootCheck());
        expect(await first.rotation.voidBefore(), 'one that is under way voids nothing').toBeNull();
        clock.advance(60_000);
        const { keys } = await reopen();
        await rotateKeys(keys.rotation, one);
        expect(await keys.rotation.voidBefore()).toBe(began);
        clock.advance(60_000);
        const beganAgain = earliestNow(clock);
        await keys.rotation.begin(await keys.rotation.rootCheck());
        expect(await keys.rotation.voidBefore()).toBe(began);
        clock.advance(60_000);
        const two = randomBytes(32);
        await rotateKeys(keys.rotation, two);
        expect(await keys.rotation.voidBefore()).toBe(beganAgain);
        const { keys: again } = await reopen(two);
        expect(await again.rotation.voidBefore()).toBe(beganAgain);
      }),
    );

    test(
      'if the store fails for a while, the rotation retries, even if a response was lost, but only for a limited time',
      on(async ({ keys, tenantId, reopen }) => {
        const { id, key } = await keys.create(tenantId);
        const next = randomBytes(32);
        const gone = { ...keys.rotation, begin: () => Promise.reject(new StoreUnavailable('test', 'no_answer')) };
        const givingUp = rotateKeys(gone, next, undefined, { againMs: 1, limitMs: 20 });
        await expect(givingUp).rejects.toThrow('test: no_answer');
        const patience = { againMs: 1, limitMs: 60_000 };
        expect(await rotateKeys(failingTwice(keys.rotation), next, undefined, patience)).toBe(true);
        const { keys: again } = await reopen(next);
        await expectOpen(again, [tenantId], new Map([[id, key.toString('hex')]]));
        expect(await rotateKeys(again.rotation, next)).toBe(false);
      }),
    );
  });
}

/**
 * Returns a rotation in which each step fails twice before it succeeds. The first call fails without any effect. The
 * second call takes full effect, but then fails too.
 */
function failingTwice(rotation: KeyRotation): KeyRotation {
  const { isUnder, rootCheck, begin, rewrap, replaceRoot, settle, voidBefore } = rotation;
  const failing = <Args extends readonly unknown[], T>(step: (...args: Args) => Promise<T>) => {
    let calls = 0;
    return async (...args: Args): Promise<T> => {
      calls += 1;
      if (calls > 2) return step(...args);
      if (calls === 2) await step(...args);
      throw new StoreUnavailable('test', 'no_answer');
    };
  };
  return {
    isUnder: failing(isUnder),
    rootCheck: failing(rootCheck),
    begin: failing(begin),
    rewrap: failing(rewrap),
    replaceRoot: failing(replaceRoot),
    settle: failing(settle),
    voidBefore,
  };
}

/** Returns the values that callers and rows depend on. A rotation must not change any of these values. */
async function seen(keys: KeyRing, tenants: readonly string[]) {
  return Promise.all(
    tenants.map(async (tenantId) => ({
      subkeys: Object.entries((await keys.tenantKeys(tenantId)) ?? {}).map(([use, key]) => [use, key.toString('hex')]),
      search: (await keys.searchTermKey(tenantId, 1))?.toString('hex'),
    })),
  );
}

async function expectOpen(keys: KeyRing, tenants: readonly string[], made: ReadonlyMap<string, string>): Promise<void> {
  for (const [id, hex] of made) {
    const states = await Promise.all(tenants.map((tenantId) => opened(keys, tenantId, id)));
    expect([id, states.filter((state) => state !== 'missing')]).toEqual([id, [hex]]);
  }
}

async function opened(keys: KeyRing, tenantId: string, keyId: string): Promise<string> {
  const used = await keys.use(tenantId, keyId, (key) => key.toString('hex'));
  return used.state === 'open' ? used.value : used.state;
}
