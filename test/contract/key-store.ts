import { randomUUID, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { KeyRing, SigningKey, TenantKeys } from '#src/keys/key-ring.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { anEvent, aStream, type OpenStores, onTenant } from './support.js';

const anHour = 3_600_000;

/** Defines the key ring tests that every adapter for `KeyStore` must pass. */
export function keyStoreContract(name: string, open: OpenStores): void {
  const on = (run: Parameters<typeof onTenant>[1]) => onTenant(open, run);

  describe(`The key ring on the KeyStore: ${name}`, () => {
    test(
      'a key is reported as alive, or with the time at which it was destroyed',
      on(async ({ keys, tenantId, clock }) => {
        const [one, other] = [await keys.create(tenantId), await keys.create(tenantId)];
        const at = clock.now();
        await keys.destroy([{ keyId: one.id, eventId: randomUUID() }]);
        const keyStatuses = await keys.keyStatuses([one.id, other.id, randomUUID()]);
        expect([...keyStatuses].sort((a) => (a.keyId === one.id ? -1 : 1))).toEqual([
          { keyId: one.id, destroyedAt: at },
          { keyId: other.id, destroyedAt: null },
        ]);
        expect(await keys.keyStatuses([])).toEqual([]);
        expect([await keys.hasDamagedId(one.id), await keys.hasDamagedId(randomUUID())]).toEqual([false, false]);
      }),
    );

    describe('the signing key', () => {
      test(
        'is the same for concurrent callers and after a restart, and its public key verifies its signatures',
        on(async ({ keys, reopen }) => {
          const asked = await Promise.all([keys.signingKey(), keys.signingKey(), keys.signingKey()]);
          const [{ publicKey }] = asked as [SigningKey, ...SigningKey[]];
          expect(new Set(asked.map((key) => key.publicKey)).size).toBe(1);
          const bytes = Buffer.from('what is signed');
          const again = await (await reopen()).keys.signingKey();
          expect(again.publicKey).toBe(publicKey);
          expect(verify(null, bytes, publicKey, again.sign(bytes))).toBe(true);
          expect(verify(null, Buffer.from('what is not'), publicKey, again.sign(bytes))).toBe(false);
        }),
      );
    });

    describe('the integrity keys', () => {
      test(
        'are five different 32-byte keys, which are the same for all callers and after a restart',
        on(async ({ keys, reopen }) => {
          const [first, second] = await Promise.all([keys.integrityKeys(), keys.integrityKeys()]);
          const inHex = Object.values(first).map((key) => key.toString('hex'));
          expect(Object.keys(first).sort()).toEqual(['backups', 'commits', 'console', 'cursors', 'rows']);
          expect(new Set(inHex).size).toBe(5);
          for (const key of inHex) expect(key).toMatch(/^[0-9a-f]{64}$/);
          expect(second).toEqual(first);
          expect(await (await reopen()).keys.integrityKeys()).toEqual(first);
        }),
      );
    });

    describe('tenant keys', () => {
      test(
        'each tenant has five different 32-byte subkeys, which are the same on each call and after a restart',
        on(async ({ keys, tenantId, reopen }) => {
          const subkeys = hexOf(await keys.tenantKeys(tenantId));
          expect(Object.keys(subkeys).sort()).toEqual(['audit', 'claims', 'directory', 'fingerprints', 'names']);
          expect(new Set(Object.values(subkeys)).size).toBe(5);
          for (const key of Object.values(subkeys)) expect(key).toMatch(/^[0-9a-f]{64}$/);
          expect(hexOf(await keys.tenantKeys(tenantId))).toEqual(subkeys);
          const again = await reopen();
          expect(hexOf(await again.keys.tenantKeys(tenantId))).toEqual(subkeys);
        }),
      );

      test(
        'no two tenants have a subkey in common, and an unknown tenant has none',
        on(async ({ keys, tenantId }) => {
          const other = randomUUID();
          expect(await keys.tenantKeys(other)).toBeNull();
          await keys.createTenant(other);
          const all = [await keys.tenantKeys(tenantId), await keys.tenantKeys(other)].flatMap((subkeys) =>
            Object.values(hexOf(subkeys)),
          );
          expect(new Set(all).size).toBe(10);
        }),
      );

      test(
        'each tenant has its own search key, which is the same after a restart, and an unknown tenant has none',
        on(async ({ keys, tenantId, reopen }) => {
          const other = randomUUID();
          expect(await keys.searchTermKey(other, 1)).toBeNull();
          await keys.createTenant(other);
          const hex = (await keys.searchTermKey(tenantId, 1))?.toString('hex');
          expect(hex).toMatch(/^[0-9a-f]{64}$/);
          expect((await keys.searchTermKey(other, 1))?.toString('hex')).not.toBe(hex);
          expect(Object.values(hexOf(await keys.tenantKeys(tenantId)))).not.toContain(hex);
          const again = await reopen();
          expect((await again.keys.searchTermKey(tenantId, 1))?.toString('hex')).toBe(hex);
        }),
      );

      test(
        'each generation of rows has its own search key until that key is destroyed, and no generation number is reused',
        on(async ({ keys, tenantId, reopen }) => {
          const hexOfSearchKey = async (generation: number, ring = keys) =>
            (await ring.searchTermKey(tenantId, generation))?.toString('hex') ?? null;
          expect(await keys.generations()).toEqual([1]);
          expect(await hexOfSearchKey(2)).toBeNull();
          expect([await keys.createGeneration(), await keys.createGeneration()]).toEqual([2, 3]);
          expect(await keys.generations()).toEqual([1, 2, 3]);
          const [first, second, third] = [await hexOfSearchKey(1), await hexOfSearchKey(2), await hexOfSearchKey(3)];
          expect(new Set([first, second, third, null]).size).toBe(4);
          await keys.destroyGeneration(3);
          await keys.destroyGeneration(3);
          expect(await hexOfSearchKey(3)).toBeNull();
          const { keys: again } = await reopen();
          expect(await again.generations()).toEqual([1, 2]);
          expect([await hexOfSearchKey(2, again), await hexOfSearchKey(3, again)]).toEqual([second, null]);
          expect(await again.createGeneration()).toBe(4);
        }),
      );

      test(
        'an unknown tenant gets no data key',
        on(async ({ keys }) => {
          await expect(keys.create(randomUUID())).rejects.toThrow();
        }),
      );
    });

    describe('data keys', () => {
      test(
        'each data key is new and has 32 bytes',
        on(async ({ keys, tenantId }) => {
          const made = await createMany(keys, tenantId, 300);
          expect(new Set(made.map(({ id }) => id)).size).toBe(300);
          expect(new Set(made.map(({ key }) => key.toString('hex'))).size).toBe(300);
          for (const { key } of made) expect(key).toHaveLength(32);
        }),
      );

      test(
        'a key is stored before it is returned, and can be opened after a restart',
        on(async ({ keys, tenantId, clock, reopen }) => {
          const { id, key } = await keys.create(tenantId);
          const stored = await keys.made(0, clock.now() + 1, 1_000);
          expect(stored.map(({ keyId }) => keyId)).toContain(id);
          const again = await reopen();
          expect(await opened(again.keys, tenantId, id)).toBe(key.toString('hex'));
        }),
      );

      test(
        'the buffer belongs to the caller, who can zero it without affecting the stored key',
        on(async ({ keys, tenantId }) => {
          const { id, key } = await keys.create(tenantId);
          const hex = key.toString('hex');
          key.fill(0);
          expect(await opened(keys, tenantId, id)).toBe(hex);
          expect(await opened(keys, tenantId, id)).toBe(hex);
        }),
      );

      test(
        '`use` returns the result of the callback, and throws its error',
        on(async ({ keys, tenantId }) => {
          const { id } = await keys.create(tenantId);
          expect(await keys.use(tenantId, id, () => 42)).toEqual({ state: 'open', value: 42, revision: null });
          const failing = async () =>
            keys.use(tenantId, id, () => {
              throw new RangeError('ours');
            });
          await expect(failing()).rejects.toThrow('ours');
        }),
      );

      test(
        'a tenant’s key cannot be opened under another tenant, whether or not it was used before',
        on(async ({ keys, tenantId, reopen }) => {
          const stranger = randomUUID();
          await keys.createTenant(stranger);
          const { id } = await keys.create(tenantId);
          await keys.create(stranger);
          expect(await keys.use(tenantId, id, () => true)).toEqual({ state: 'open', value: true, revision: null });
          expect(await keys.use(stranger, id, () => true)).toEqual({ state: 'missing' });
          const again = await reopen();
          expect(await again.keys.use(stranger, id, () => true)).toEqual({ state: 'missing' });
          expect(await again.keys.use(tenantId, id, () => true)).toEqual({
            state: 'open',
            value: true,
            revision: null,
          });
          expect(await again.keys.use(stranger, id, () => true)).toEqual({ state: 'missing' });
        }),
      );

      test(
        'open, destroyed and missing keys are distinguished',
        on(async ({ keys, tenantId, reopen }) => {
          const [living, dead] = await createMany(keys, tenantId, 2);
          await keys.destroy([{ keyId: String(dead?.id), eventId: randomUUID() }]);
          const states = async (ring: KeyRing) => {
            const asked = [living?.id, dead?.id, randomUUID()].map((id) => ring.use(tenantId, String(id), () => 0));
            return (await Promise.all(asked)).map(({ state }) => state);
          };
          expect(await states(keys)).toEqual(['open', 'destroyed', 'missing']);
          expect(await states((await reopen()).keys)).toEqual(['open', 'destroyed', 'missing']);
        }),
      );
    });

    describe('destruction', () => {
      test(
        'counts each destroyed key once, whether it is destroyed in one call or in several',
        on(async ({ keys, tenantId }) => {
          const ended = (await createMany(keys, tenantId, 5)).map(({ id }) => ({ keyId: id, eventId: randomUUID() }));
          expect(await keys.destroy([])).toBe(0);
          expect(await keys.destroy(ended.slice(0, 2))).toBe(2);
          expect(await keys.destroy(ended.slice(0, 2))).toBe(0);
          expect(await keys.destroy(ended.slice(1, 4))).toBe(2);
          expect(await keys.destroy([...ended, ...ended])).toBe(1);
          expect(await keys.destroy([{ keyId: randomUUID(), eventId: randomUUID() }])).toBe(0);
        }),
      );

      test(
        'takes effect immediately for a key that was just used, even while other keys are read',
        on(async ({ keys, tenantId }) => {
          const made = await createMany(keys, tenantId, 40);
          await Promise.all(
            made.map(async ({ id }, index) => {
              await keys.use(tenantId, id, () => 0);
              if (index % 2 === 1) return;
              const reading = Promise.all([0, 1, 2].map(() => keys.use(tenantId, id, () => 0)));
              await keys.destroy([{ keyId: id, eventId: randomUUID() }]);
              expect(await keys.use(tenantId, id, () => 0)).toEqual({ state: 'destroyed' });
              await reading;
            }),
          );
          for (const [index, { id }] of made.entries()) {
            const { state } = await keys.use(tenantId, id, () => 0);
            expect(state).toBe(index % 2 === 1 ? 'open' : 'destroyed');
          }
        }),
      );

      test(
        'completes for each of 20 concurrent callers only once their common key is destroyed',
        on(async ({ keys, tenantId }) => {
          const { id } = await keys.create(tenantId);
          const calls = Array.from({ length: 20 }, async () => {
            await keys.destroy([{ keyId: id, eventId: randomUUID() }]);
            expect(await keys.use(tenantId, id, () => 0)).toEqual({ state: 'destroyed' });
          });
          await Promise.all(calls);
        }),
      );
    });

    describe('recorded revisions', () => {
      test(
        'a key’s revision only increases, is durable, and is recorded together with the destruction of other keys',
        on(async ({ keys, tenantId, reopen }) => {
          const made = await createMany(keys, tenantId, 4);
          const [first, second, third, dead] = made.map(({ id }) => id) as [string, string, string, string];
          await keys.advance([{ keyId: first, revision: 0 }]);
          await keys.advance([
            { keyId: first, revision: 7 },
            { keyId: second, revision: 3 },
          ]);
          await keys.advance([{ keyId: first, revision: 5 }]);
          const ended = [{ keyId: dead, eventId: randomUUID() }];
          expect(await keys.destroy(ended, [{ keyId: second, revision: 300 }])).toBe(1);
          await keys.advance([
            { keyId: dead, revision: 1 },
            { keyId: randomUUID(), revision: 1 },
          ]);
          const noted = async (ring: KeyRing) => {
            const used = await Promise.all([first, second, third, dead].map((id) => ring.use(tenantId, id, () => 0)));
            return used.map((use) => (use.state === 'open' ? use.revision : use.state));
          };
          expect(await noted(keys)).toEqual([7, 300, null, 'destroyed']);
          const again = (await reopen()).keys;
          expect(await noted(again)).toEqual([7, 300, null, 'destroyed']);
          await again.forgetRevisions();
          expect(await noted(again)).toEqual([null, null, null, 'destroyed']);
        }),
      );

      test(
        'revisions of tenants and applications only increase, and are durable',
        on(async ({ keys, reopen }) => {
          const id = randomUUID();
          const [tenant, application] = [{ kind: 'tenant', id } as const, { kind: 'application', id } as const];
          await keys.noteDirectory([
            { ...tenant, revision: 4 },
            { ...application, revision: 2 },
          ]);
          await keys.noteDirectory([{ ...tenant, revision: 3 }]);
          await keys.noteDirectory([{ ...application, revision: 9 }]);
          const noted = new Map([
            [`tenant-${id}`, 4],
            [`application-${id}`, 9],
          ]);
          const asked = [tenant, application, { kind: 'tenant', id: randomUUID() } as const];
          expect(await keys.directoryRevisions(asked)).toEqual(noted);
          const again = (await reopen()).keys;
          expect(await again.directoryRevisions(asked)).toEqual(noted);
          await again.forgetRevisions();
          expect(Math.max(...(await again.directoryRevisions(asked)).values(), -1)).toBe(-1);
          await again.noteDirectory([{ ...tenant, revision: 0 }]);
          expect((await again.directoryRevisions(asked)).get(`tenant-${id}`)).toBe(0);
        }),
      );
    });

    describe('keys that are not destroyed, by age', () => {
      test(
        'are returned in creation order and in pages, and only if they are older than the limit and not destroyed',
        on(async ({ keys, tenantId, clock }) => {
          const startedAt = clock.now();
          const [first] = await createMany(keys, tenantId, 1);
          clock.advance(anHour);
          const [second, dead] = await createMany(keys, tenantId, 2);
          await keys.destroy([{ keyId: String(dead?.id), eventId: randomUUID() }]);
          const all = await keys.made(0, clock.now() + 1, 10_000);
          const sequences = all.map(({ sequence }) => sequence);
          expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
          const ids = all.map(({ keyId }) => keyId);
          expect(ids).toContain(first?.id);
          expect(ids).toContain(second?.id);
          expect(ids).not.toContain(dead?.id);
          expect(ids.indexOf(String(first?.id))).toBeLessThan(ids.indexOf(String(second?.id)));
          const madeAt = new Map(all.map((key) => [key.keyId, key.madeAt]));
          expect(madeAt.get(String(first?.id))).toBe(startedAt);
          expect(madeAt.get(String(second?.id))).toBe(startedAt + anHour);

          const old = (await keys.made(0, startedAt + 1, 10_000)).map(({ keyId }) => keyId);
          expect(old).toContain(first?.id);
          expect(old).not.toContain(second?.id);
          expect(await keys.made(0, startedAt, 10_000)).toEqual([]);

          const paged: string[] = [];
          for (let page = await keys.made(0, clock.now() + 1, 3); page.length > 0; ) {
            expect(page.length).toBeLessThanOrEqual(3);
            paged.push(...page.map(({ keyId }) => keyId));
            page = await keys.made(page.at(-1)?.sequence ?? 0, clock.now() + 1, 3);
          }
          expect(paged).toEqual(ids);
        }),
      );

      test(
        'the log position that is recorded with a key precedes every event that can name the key',
        on(async ({ keys, log, tenantId, clock }) => {
          for (let round = 0; round < 30; round += 1) {
            const { id } = await keys.create(tenantId);
            await log.append(aStream(), -1, [anEvent({ clear: { key: id } })]);
          }
          const named = new Map((await log.readAll(0, 1_000)).map((event) => [event.clear['key'], event.position]));
          const made = await keys.made(0, clock.now() + 1, 1_000);
          for (const { keyId, logHead } of made) {
            expect(logHead).toBeLessThan(named.get(keyId) ?? Number.POSITIVE_INFINITY);
          }
          expect(made.filter(({ keyId }) => named.has(keyId))).toHaveLength(30);
        }),
      );

      test(
        'a key that was created in advance more than ten minutes ago is no longer issued',
        on(async ({ keys, tenantId, clock }) => {
          await keys.create(tenantId);
          const before = new Set((await keys.made(0, clock.now() + 1, 10_000)).map(({ keyId }) => keyId));
          clock.advance(600_001);
          for (const { id } of await createMany(keys, tenantId, 600)) expect(before.has(id)).toBe(false);
        }),
      );
    });

    test(
      'destroying a tenant destroys its keys and all keys under them, cached or not, even after a restart, and no other tenant’s keys',
      on(async ({ keys, tenantId, reopen }) => {
        const other = randomUUID();
        await keys.createTenant(other);
        const [cached, others] = [await keys.create(tenantId), await keys.create(other)];
        await opened(keys, tenantId, cached.id);
        expect(await keys.destroyTenant(tenantId, randomUUID())).toBeGreaterThan(0);
        const expectDestroyed = async (ring: KeyRing) => {
          expect(await ring.tenantKeys(tenantId)).toBeNull();
          expect(await opened(ring, tenantId, cached.id)).toBe('destroyed');
          await expect(ring.create(tenantId)).rejects.toThrow(StoreUnavailable);
          expect(hexOf(await ring.tenantKeys(other))).toBeTruthy();
          expect(await opened(ring, other, others.id)).toBe(others.key.toString('hex'));
        };
        await expectDestroyed(keys);
        expect(await keys.destroyTenant(tenantId, randomUUID()), 'a repeat').toBe(0);
        expect(await keys.destroyTenant(randomUUID(), randomUUID()), 'an unknown tenant').toBe(0);
        await expectDestroyed((await reopen()).keys);
      }),
    );

    test(
      'the check opens every key, and does not count the data keys of a destroyed tenant as damaged',
      on(async ({ keys, tenantId }) => {
        const other = randomUUID();
        await keys.createTenant(other);
        const [living, ended] = [await keys.create(tenantId), await keys.create(other)];
        await keys.destroyTenant(other, randomUUID());
        expect(await keys.check.underRoot([tenantId, other])).toEqual([]);
        expect(await keys.check.searchKeys()).toEqual([]);
        const unopened: string[] = [];
        for (let page = await keys.check.dataKeys(0); page !== null; page = await keys.check.dataKeys(page.last)) {
          expect(page.damaged).toEqual([]);
          unopened.push(...page.unwrappable);
        }
        expect(unopened).toContain(ended.id);
        expect(unopened).not.toContain(living.id);
      }),
    );

    test(
      'checkpoints start at 0, are independent of each other, and survive a restart',
      on(async ({ keys, reopen }) => {
        expect([await keys.checkpoint('shredder'), await keys.checkpoint('orphans')]).toEqual([0, 0]);
        await keys.saveCheckpoint('shredder', 2 ** 40 + 7);
        await keys.saveCheckpoint('orphans', 3);
        await keys.saveCheckpoint('orphans', 1);
        const { keys: again } = await reopen();
        expect([await again.checkpoint('shredder'), await again.checkpoint('orphans')]).toEqual([2 ** 40 + 7, 1]);
      }),
    );

    test(
      'the newest checkpoint and link of the log stay recorded, even across a restart, until others replace them',
      on(async ({ keys, reopen }) => {
        const checkpoint = (number: number) => ({ number, hash: 'ab'.repeat(32), signature: `signature ${number}` });
        const link = (position: number) => ({ position, count: position, hash: Buffer.alloc(32, position) });
        const remembered = async (ring: KeyRing) => {
          const memory = await ring.logMemory();
          return [memory.checkpoint?.signature ?? null, Buffer.from(memory.link?.hash ?? []).toString('hex')];
        };
        await keys.rememberLog({ checkpoint: checkpoint(2), link: link(9) });
        await keys.rememberLog({ checkpoint: checkpoint(1), link: null });
        await keys.rememberLog({ checkpoint: null, link: link(7) });
        const newest = ['signature 2', '09'.repeat(32)];
        expect(await remembered(keys)).toEqual(newest);
        expect(await keys.checkpoint('log')).toBeGreaterThanOrEqual(9);
        const { keys: again } = await reopen();
        expect(await remembered(again)).toEqual(newest);
        await again.rememberLog({ checkpoint: checkpoint(3), link: link(10) });
        expect(await remembered(again)).toEqual(['signature 3', '0a'.repeat(32)]);
        await again.replaceLogMemory({ checkpoint: checkpoint(1), link: link(4) });
        expect(await remembered(again)).toEqual(['signature 1', '04'.repeat(32)]);
        await again.replaceLogMemory({ checkpoint: null, link: null });
        expect(await again.logMemory()).toEqual({ checkpoint: null, link: null });
      }),
    );
  });
}

async function createMany(keys: KeyRing, tenantId: string, count: number) {
  return Promise.all(Array.from({ length: count }, () => keys.create(tenantId)));
}

async function opened(keys: KeyRing, tenantId: string, keyId: string): Promise<string> {
  const used = await keys.use(tenantId, keyId, (key) => key.toString('hex'));
  return used.state === 'open' ? used.value : used.state;
}

function hexOf(subkeys: TenantKeys | null): Record<string, string> {
  if (subkeys === null) throw new Error('the tenant has no keys');
  return Object.fromEntries(
    Object.entries(subkeys).flatMap(([purpose, key]) => (Buffer.isBuffer(key) ? [[purpose, key.toString('hex')]] : [])),
  );
}
