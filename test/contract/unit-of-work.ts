import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { TokenView } from '#src/views/token-view.js';
import {
  aHash,
  anEvent,
  aStream,
  atNoon,
  bytes,
  type ContractStores,
  change,
  noTokenYet,
  type OpenStores,
  onStores,
  tokenCreated,
  tokenDeleted,
  tokenExpired,
  tokenUpdated,
  tokenWrite,
} from './support.js';

const committed = { outcome: 'committed' } as const;

/** Defines the tests that every adapter for `UnitOfWork` must pass. */
export function unitOfWorkContract(name: string, open: OpenStores): void {
  const on = (run: Parameters<typeof onStores>[1]) => onStores(open, run);

  describe(`UnitOfWork: ${name}`, () => {
    test(
      'when a change resolves, its events, row and claim are all stored',
      on(async ({ work, log, rows, claims }) => {
        const write = tokenWrite(noTokenYet(), [tokenCreated({ cvcPurgeAt: atNoon + 5 })]);
        const result = { tokens: [{ stream: write.stream, createdRevision: 0 }] };
        const claim = { cmd: aHash(), result, time: atNoon, mac: randomBytes(32) };
        expect(await work.commit({ writes: [write], claim })).toEqual(committed);
        const [event] = await log.readStream(write.stream);
        expect(event).toMatchObject({ id: write.events[0]?.id, revision: 0 });
        const row = await rows.get(write.stream);
        expect(bytes(row?.content ?? null)).toEqual(bytes(write.view.content));
        expect(bytes(row?.cvc ?? null)).toEqual(bytes(write.view.cvc));
        expect(await claims.begin(claim.cmd, atNoon)).toEqual({ state: 'done', claim });
      }),
    );

    test(
      'a conflict in one stream prevents the change from storing anything in the others',
      on(async (stores) => {
        const taken = tokenWrite(noTokenYet(), [tokenCreated()]);
        await stores.work.commit(change(taken));
        const hash = aHash();
        const fresh = tokenWrite(noTokenYet(), [tokenCreated()], { index: { fingerprintHash: hash } });
        const late = { ...tokenWrite(noTokenYet(), [tokenCreated()]), stream: taken.stream };
        const cmd = aHash();
        for (const writes of [
          [fresh, late],
          [late, fresh],
        ]) {
          const refused = await stores.work.commit({ writes, claim: claimOf(cmd) });
          expect(refused).toEqual({ outcome: 'conflict' });
          await expectNothing(stores, fresh.stream, hash, cmd);
        }
        expect(await stores.log.readStream(taken.stream)).toHaveLength(1);
        expect(await stores.work.commit(change(fresh))).toEqual(committed);
      }),
    );

    test.each([-2, 1, 7])('an expected revision that is %i off is a conflict', (off) =>
      on(async ({ work, log }) => {
        const first = tokenWrite(noTokenYet(), [tokenCreated(), tokenUpdated()]);
        await work.commit(change(first));
        const next = tokenWrite(first.view, [tokenUpdated()]);
        const wrong = { ...next, expectedRevision: next.expectedRevision + off };
        expect(await work.commit(change(wrong))).toEqual({ outcome: 'conflict' });
        expect(await log.readStream(first.stream)).toHaveLength(2);
        expect(await work.commit(change(next))).toEqual(committed);
      })(),
    );

    test(
      'if 20 changes race for one stream, exactly one succeeds, and the row is that change’s row',
      on(async ({ work, log, rows }) => {
        const stream = aStream();
        const racers = Array.from({ length: 20 }, () => tokenWrite(noTokenYet('tenant', stream), [tokenCreated()]));
        const outcomes = await Promise.all(racers.map((write) => work.commit(change(write))));
        const winner = racers.find((_, index) => outcomes[index]?.outcome === 'committed');
        expect(outcomes.filter(({ outcome }) => outcome === 'committed')).toHaveLength(1);
        expect(outcomes.filter(({ outcome }) => outcome === 'conflict')).toHaveLength(19);
        expect((await log.readStream(stream)).map(({ id }) => id)).toEqual([winner?.events[0]?.id]);
        expect(bytes((await rows.get(stream))?.content ?? null)).toEqual(bytes(winner?.view.content ?? null));
      }),
    );

    test(
      'a rejected change does not affect concurrent changes',
      on(async ({ work, rows }) => {
        const taken = tokenWrite(noTokenYet(), [tokenCreated()]);
        await work.commit(change(taken));
        const good = Array.from({ length: 30 }, () => tokenWrite(noTokenYet(), [tokenCreated()]));
        const late = () => ({ ...tokenWrite(noTokenYet(), [tokenCreated()]), stream: taken.stream });
        const mixed = good.flatMap((write) => [write, late()]);
        const outcomes = await Promise.all(mixed.map((write) => work.commit(change(write))));
        expect(outcomes.map(({ outcome }) => outcome)).toEqual(good.flatMap(() => ['committed', 'conflict']));
        for (const { stream } of good) expect(await rows.get(stream)).not.toBeNull();
      }),
    );

    describe('the position of the creating event in a row', () => {
      test(
        'equals the position in the log, even with other writers, and survives updates',
        on(async (stores) => {
          const writes = Array.from({ length: 10 }, () => tokenWrite(noTokenYet(), [tokenCreated(), tokenUpdated()]));
          await Promise.all(writes.map((write) => stores.work.commit(change(write))));
          for (const { stream } of writes) {
            const position = await expectCreatedPosition(stores, stream, 0);
            const row = (await stores.rows.get(stream)) as TokenView;
            await stores.work.commit(change(tokenWrite(row, [tokenUpdated()])));
            expect(await expectCreatedPosition(stores, stream, 0)).toBe(position);
          }
        }),
      );

      test(
        'is that of the newest life if one append ends a life and begins the next',
        on(async (stores) => {
          const first = tokenWrite(noTokenYet(), [tokenCreated({ expiresAt: atNoon }), tokenUpdated()]);
          await stores.work.commit(change(first));
          const next = tokenWrite(first.view, [tokenExpired(atNoon), tokenCreated()]);
          await stores.work.commit(change(next));
          await expectCreatedPosition(stores, first.stream, 3);
        }),
      );

      test(
        'is correct for each of several streams in one change',
        on(async (stores) => {
          const writes = [1, 2, 3].map((count) =>
            tokenWrite(noTokenYet(), [tokenCreated(), ...Array.from({ length: count }, () => tokenUpdated())]),
          );
          await stores.work.commit(change(...writes));
          for (const { stream } of writes) await expectCreatedPosition(stores, stream, 0);
        }),
      );
    });

    describe('deduplication', () => {
      test(
        'names the write and the live token with the same fingerprint, and stores nothing',
        on(async (stores) => {
          const fingerprintHash = aHash();
          const owner = tokenWrite(noTokenYet(), [tokenCreated()], { index: { fingerprintHash } });
          await stores.work.commit(change(owner));
          const other = tokenWrite(noTokenYet(), [tokenCreated()]);
          const second = tokenWrite(noTokenYet(), [tokenCreated()], same(fingerprintHash));
          const cmd = aHash();
          const refused = await stores.work.commit({ writes: [other, second], claim: claimOf(cmd) });
          expect(refused).toEqual({ outcome: 'duplicate', write: 1, stream: owner.stream });
          for (const { stream } of [other, second]) await expectNothing(stores, stream, aHash(), cmd);
        }),
      );

      test(
        'finds an equal fingerprint earlier in the same change',
        on(async (stores) => {
          const fingerprintHash = aHash();
          const writes = [0, 1].map(() => tokenWrite(noTokenYet(), [tokenCreated()], same(fingerprintHash)));
          const refused = await stores.work.commit(change(...writes));
          expect(refused).toEqual({ outcome: 'duplicate', write: 1, stream: writes[0]?.stream });
          for (const { stream } of writes) await expectNothing(stores, stream, fingerprintHash, aHash());
        }),
      );

      test(
        'stores exactly one of 20 changes that race with the same fingerprint',
        on(async ({ work, rows }) => {
          const fingerprintHash = aHash();
          const racers = Array.from({ length: 20 }, () =>
            tokenWrite(noTokenYet(), [tokenCreated()], same(fingerprintHash)),
          );
          const outcomes = await Promise.all(racers.map((write) => work.commit(change(write))));
          const [winner] = racers.filter((_, index) => outcomes[index]?.outcome === 'committed');
          expect(outcomes.filter(({ outcome }) => outcome === 'committed')).toHaveLength(1);
          const losers = outcomes.filter(({ outcome }) => outcome !== 'committed');
          for (const lost of losers) expect(lost).toEqual({ outcome: 'duplicate', write: 0, stream: winner?.stream });
          expect(await rows.findByFingerprint('tenant', fingerprintHash, atNoon, 9)).toEqual([winner?.stream]);
        }),
      );

      test(
        'stores exactly one of several changes that race for two fingerprints in opposite orders, and nothing of the others',
        on(async ({ work, log }) => {
          const hashes = [aHash(), aHash()];
          const racers = Array.from({ length: 6 }, (_, index) =>
            (index % 2 === 0 ? hashes : hashes.toReversed()).map((hash) =>
              tokenWrite(noTokenYet(), [tokenCreated()], same(hash)),
            ),
          );
          const outcomes = await Promise.all(racers.map((writes) => work.commit(change(...writes))));
          expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['committed', ...Array(5).fill('duplicate')]);
          const losers = racers.filter((_, index) => outcomes[index]?.outcome !== 'committed').flat();
          for (const { stream } of losers) expect(await log.readStream(stream)).toEqual([]);
        }),
      );

      test.each([
        ['is the one being written', { own: true }],
        ['belongs to another tenant', { tenantId: 'another' }],
        ['expires at this very instant', { expiresAt: atNoon }],
        ['was deleted', { deleted: true }],
      ] as const)('does not find a token that %s', (_, given) =>
        on(async ({ work }) => {
          const { own, tenantId, expiresAt, deleted } = {
            own: false,
            tenantId: 'tenant',
            deleted: false,
            ...given,
          } as {
            own: boolean;
            tenantId: string;
            expiresAt?: number;
            deleted: boolean;
          };
          const fingerprintHash = aHash();
          const created = tokenCreated({ tenantId, ...(expiresAt === undefined ? {} : { expiresAt }) });
          const first = tokenWrite(noTokenYet(tenantId), [created], { index: { fingerprintHash } });
          await work.commit(change(first));
          if (deleted) await work.commit(change(tokenWrite(first.view, [tokenDeleted()], { index: 'keep' })));
          const second = own
            ? tokenWrite(first.view, [tokenUpdated()], same(fingerprintHash))
            : tokenWrite(noTokenYet(), [tokenCreated()], same(fingerprintHash));
          expect(await work.commit(change(second))).toEqual(committed);
        })(),
      );

      test(
        'accepts other tokens with the fingerprint that the write names, but no further one',
        on(async ({ work, rows }) => {
          const fingerprintHash = aHash();
          const planted = [1, 2].map(() => tokenWrite(noTokenYet(), [tokenCreated()], { index: { fingerprintHash } }));
          for (const write of planted) await work.commit(change(write));
          const others = planted.map(({ stream }) => stream);
          const write = (named: readonly string[]) =>
            tokenWrite(noTokenYet(), [tokenCreated()], {
              index: { fingerprintHash },
              distinct: { fingerprintHash, others: named },
            });
          const missing = { outcome: 'duplicate', write: 0, stream: others[1] };
          expect(await work.commit(change(write(others.slice(0, 1))))).toEqual(missing);
          const stored = write(others);
          expect(await work.commit(change(stored))).toEqual(committed);
          const duplicate = { outcome: 'duplicate', write: 0, stream: stored.stream };
          expect(await work.commit(change(write(others)))).toEqual(duplicate);
          const found = await rows.findByFingerprint('tenant', fingerprintHash, atNoon, 2);
          expect(found).toEqual([stored.stream, others[1]]);
        }),
      );

      test(
        'stores exactly one of 20 changes that race with the same fingerprint beside a token that they name',
        on(async ({ work }) => {
          const fingerprintHash = aHash();
          const planted = tokenWrite(noTokenYet(), [tokenCreated()], { index: { fingerprintHash } });
          await work.commit(change(planted));
          const given = { index: { fingerprintHash }, distinct: { fingerprintHash, others: [planted.stream] } };
          const racers = Array.from({ length: 20 }, () => tokenWrite(noTokenYet(), [tokenCreated()], given));
          const outcomes = await Promise.all(racers.map((write) => work.commit(change(write))));
          expect(outcomes.filter(({ outcome }) => outcome === 'committed')).toHaveLength(1);
          expect(outcomes.filter(({ outcome }) => outcome === 'duplicate')).toHaveLength(19);
        }),
      );

      test(
        'finds a token that expires one millisecond later',
        on(async ({ work }) => {
          const fingerprintHash = aHash();
          const created = tokenCreated({ expiresAt: atNoon + 1 });
          await work.commit(change(tokenWrite(noTokenYet(), [created], { index: { fingerprintHash } })));
          const second = tokenWrite(noTokenYet(), [tokenCreated()], same(fingerprintHash));
          expect(await work.commit(change(second))).toMatchObject({ outcome: 'duplicate' });
        }),
      );
    });

    describe('the index in a write', () => {
      test(
        'replaces the old index, `keep` keeps it, and a removal deletes it',
        on(async ({ work, rows }) => {
          const [first, second] = [aHash(), aHash()];
          const find = async (hash: string) => (await rows.findByFingerprint('tenant', hash, atNoon, 9))[0] ?? null;
          const created = tokenWrite(noTokenYet(), [tokenCreated()], { index: { fingerprintHash: first } });
          await work.commit(change(created));
          const kept = tokenWrite(created.view, [tokenUpdated()], { index: 'keep' });
          await work.commit(change(kept));
          expect(await find(first)).toBe(created.stream);
          const replaced = tokenWrite(kept.view, [tokenUpdated()], { index: { fingerprintHash: second } });
          await work.commit(change(replaced));
          expect([await find(first), await find(second)]).toEqual([null, created.stream]);
          await work.commit(change(tokenWrite(replaced.view, [tokenDeleted()], { index: 'keep' })));
          expect([await find(first), await find(second)]).toEqual([null, null]);
        }),
      );
    });

    describe('claims', () => {
      test(
        'a claim can be stored alone',
        on(async ({ work, log, claims }) => {
          const cmd = aHash();
          expect(await work.commit({ writes: [], claim: claimOf(cmd) })).toEqual(committed);
          expect(await claims.begin(cmd, atNoon)).toMatchObject({ state: 'done' });
          expect(await log.head()).toBe(0);
        }),
      );

      test(
        'a claim that is already taken prevents the change from storing anything',
        on(async (stores) => {
          const cmd = aHash();
          await stores.work.commit({ writes: [], claim: claimOf(cmd) });
          const write = tokenWrite(noTokenYet(), [tokenCreated()]);
          const refused = await stores.work.commit({ writes: [write], claim: claimOf(cmd) });
          expect(refused).toEqual({ outcome: 'claimed' });
          expect(await stores.log.readStream(write.stream)).toEqual([]);
          expect(await stores.rows.get(write.stream)).toBeNull();
        }),
      );

      test(
        'if 20 changes race with the same claim, exactly one is stored',
        on(async ({ work, log }) => {
          const cmd = aHash();
          const racers = Array.from({ length: 20 }, () => tokenWrite(noTokenYet(), [tokenCreated()]));
          const outcomes = await Promise.all(
            racers.map((write) => work.commit({ writes: [write], claim: claimOf(cmd) })),
          );
          const names = outcomes.map(({ outcome }) => outcome).sort();
          expect(names).toEqual([...Array.from({ length: 19 }, () => 'claimed'), 'committed']);
          expect(await log.readAll(0, 100)).toHaveLength(1);
        }),
      );
    });

    test(
      'a removal leaves a tombstone without ciphertexts, and the row of the next life replaces it',
      on(async ({ work, rows }) => {
        const created = tokenWrite(noTokenYet(), [tokenCreated({ cvcPurgeAt: atNoon + 1, expiresAt: atNoon + 2 })]);
        await work.commit(change(created));
        const deleted = tokenWrite(created.view, [tokenDeleted()], { index: 'keep' });
        await work.commit(change(deleted));
        const tombstone = await rows.get(created.stream);
        expect(tombstone).toMatchObject({ content: null, cvc: null, state: { revision: 1, life: null } });
        expect(await rows.nextDueAt()).toBeNull();
        await work.commit(change(tokenWrite(deleted.view, [tokenCreated()])));
        expect((await rows.get(created.stream))?.state).toMatchObject({ revision: 2, life: { createdRevision: 2 } });
      }),
    );

    test(
      'events of any type can be stored without a row',
      on(async ({ work, log, rows }) => {
        const stream = aStream();
        const write = { stream, expectedRevision: -1, events: [anEvent()], row: null, distinct: null };
        expect(await work.commit(change(write))).toEqual(committed);
        expect(await log.readStream(stream)).toHaveLength(1);
        expect(await rows.get(stream)).toBeNull();
      }),
    );

    test(
      'a change that cannot be stored throws as a bug, does not affect other changes, and leaves nothing behind',
      on(async (stores) => {
        const stream = aStream();
        const twice = [0, 1].map(() => tokenWrite(noTokenYet('tenant', stream), [tokenCreated()]));
        const good = Array.from({ length: 5 }, () => tokenWrite(noTokenYet(), [tokenCreated()]));
        const cmd = aHash();
        const [refused, ...others] = await Promise.allSettled([
          stores.work.commit({ writes: twice, claim: claimOf(cmd) }),
          ...good.map((write) => stores.work.commit(change(write))),
        ]);
        const isRefused = refused.status === 'rejected' || refused.value.outcome === 'conflict';
        expect(isRefused, JSON.stringify(refused)).toBe(true);
        for (const outcome of others) expect(outcome).toEqual({ status: 'fulfilled', value: committed });
        await expectNothing(stores, stream, aHash(), cmd);
      }),
    );
  });
}

function same(fingerprintHash: string) {
  return { index: { fingerprintHash }, distinct: { fingerprintHash } };
}

function claimOf(cmd: string) {
  return { cmd, result: { tokens: [] }, time: atNoon, mac: Buffer.alloc(32) };
}

async function expectNothing(
  { log, rows, claims }: ContractStores,
  stream: string,
  fingerprintHash: string,
  cmd: string,
): Promise<void> {
  expect(await log.readStream(stream)).toEqual([]);
  expect(await rows.get(stream)).toBeNull();
  expect(await rows.findByFingerprint('tenant', fingerprintHash, atNoon, 9)).toEqual([]);
  expect(await claims.begin(cmd, 0)).toEqual({ state: 'fresh' });
  await claims.release(cmd);
}

async function expectCreatedPosition({ log, rows }: ContractStores, stream: string, revision: number) {
  const position = (await log.readStream(stream))[revision]?.position;
  const row = await rows.get(stream);
  expect(row?.state.life).toMatchObject({ createdRevision: revision, createdPosition: position });
  return position;
}
