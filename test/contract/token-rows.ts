import { describe, expect, test } from 'vitest';
import type { TokenRows } from '#src/ports/token-rows.js';
import type { UnitOfWork } from '#src/ports/unit-of-work.js';
import {
  aHash,
  aStream,
  atNoon,
  bytes,
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
import { tokenRowsSearchContract } from './token-rows-search.js';

/** Defines the tests that every adapter for `TokenRows` must pass. */
export function tokenRowsContract(name: string, open: OpenStores): void {
  tokenRowsSearchContract(name, open);
  const on = (run: Parameters<typeof onStores>[1]) => onStores(open, run);

  describe(`TokenRows: ${name}`, () => {
    test(
      'an empty store finds no rows and has none that are due',
      on(async ({ rows }) => {
        expect(await rows.get(aStream())).toBeNull();
        expect(await rows.findByFingerprint('tenant', aHash(), atNoon, 9)).toEqual([]);
        expect(await rows.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
        expect(await rows.nextDueAt()).toBeNull();
      }),
    );

    test(
      'a row equals the folded view of its events, even after a restart',
      on(async ({ work, log, rows, reopen }) => {
        const events = [tokenCreated({ tenantId: 'ours', cvcPurgeAt: atNoon, expiresAt: atNoon + 1 }), tokenUpdated()];
        const write = tokenWrite(noTokenYet('ours'), events);
        await work.commit(change(write));
        const [created] = await log.readStream(write.stream);
        const { life } = write.view.state;
        const state = { ...write.view.state, life: { ...life, createdPosition: created?.position } };
        for (const reader of [async () => rows, async () => (await reopen()).rows]) {
          const store = await reader();
          const row = await store.get(write.stream);
          expect(row).toMatchObject({ stream: write.stream, tenantId: 'ours', state });
          expect(bytes(row?.content ?? null)).toEqual(bytes(events[1]?.sealed.content ?? null));
          expect(bytes(row?.cvc ?? null)).toEqual(bytes(events[0]?.sealed.cvc ?? null));
        }
      }),
    );

    test(
      'all rows are returned in pages, ordered by stream, with the MACs with which they were written',
      on(async ({ work, rows }) => {
        const writes = Array.from({ length: 5 }, () => tokenWrite(noTokenYet(), [tokenCreated()]));
        for (const write of writes) await work.commit(change(write));
        const [first] = writes;
        if (first === undefined) throw new Error('five were made');
        const gone = tokenWrite(first.view, [tokenDeleted()], { index: 'keep' });
        await work.commit(change(gone));
        const found = new Map<string, readonly number[] | null>();
        for (let page = await rows.page('', 2); page.length > 0; ) {
          expect(page.length).toBeLessThanOrEqual(2);
          for (const { stream, mac } of page) found.set(stream, bytes(mac));
          page = await rows.page(page.at(-1)?.stream ?? '', 2);
        }
        const wanted = [gone, ...writes.slice(1)].map(({ stream, view }) => [stream, bytes(view.mac)] as const);
        expect([...found]).toEqual(wanted.sort(([a], [b]) => (a < b ? -1 : 1)));
      }),
    );

    test(
      'each concurrent caller gets its own row',
      on(async ({ work, rows }) => {
        const writes = Array.from({ length: 5 }, () => tokenWrite(noTokenYet(), [tokenCreated()]));
        for (const write of writes) await work.commit(change(write));
        const [first, second, third, fourth, fifth] = writes.map(({ stream }) => stream);
        const asked = [fourth, first, aStream(), fifth, first, third, second].map(String);
        const known = new Set(writes.map(({ stream }) => stream));
        const found = await Promise.all(asked.map((stream) => rows.get(stream)));
        expect(found.map((row) => row?.stream ?? null)).toEqual(asked.map((name) => (known.has(name) ? name : null)));
        const content = new Map(writes.map(({ stream, view }) => [stream, bytes(view.content)]));
        for (const row of found) if (row !== null) expect(bytes(row.content)).toEqual(content.get(row.stream));
      }),
    );

    test(
      'a fingerprint finds only its own tenant’s live token',
      on(async ({ work, rows }) => {
        const fingerprintHash = aHash();
        const created = tokenCreated({ expiresAt: atNoon + 10 });
        const write = tokenWrite(noTokenYet(), [created], { index: { fingerprintHash } });
        await work.commit(change(write));
        expect(await rows.findByFingerprint('tenant', fingerprintHash, atNoon + 9, 9)).toEqual([write.stream]);
        expect(await rows.findByFingerprint('tenant', fingerprintHash, atNoon + 10, 9)).toEqual([]);
        expect(await rows.findByFingerprint('another', fingerprintHash, atNoon, 9)).toEqual([]);
        expect(await rows.findByFingerprint('tenant', aHash(), atNoon, 9)).toEqual([]);
      }),
    );

    test(
      'rows are returned as due from their due time on, earliest first, expiry and cvc together, up to the limit',
      on(async ({ work, rows }) => {
        const late = await create(work, { expiresAt: atNoon + 50, cvcPurgeAt: atNoon + 10 });
        const soon = await create(work, { expiresAt: atNoon + 20 });
        const never = await create(work, {});
        const purge = await create(work, { cvcPurgeAt: atNoon + 30 });
        const all = [
          { stream: late, tenantId: 'tenant', due: 'cvc', dueAt: atNoon + 10 },
          { stream: soon, tenantId: 'tenant', due: 'expiry', dueAt: atNoon + 20 },
          { stream: purge, tenantId: 'tenant', due: 'cvc', dueAt: atNoon + 30 },
          { stream: late, tenantId: 'tenant', due: 'expiry', dueAt: atNoon + 50 },
        ];
        expect(await rows.due(atNoon + 9, 10)).toEqual([]);
        for (const [index, { dueAt }] of all.entries()) {
          expect(await rows.due(dueAt, 10)).toEqual(all.slice(0, index + 1));
        }
        for (const limit of [1, 2, 3]) expect(await rows.due(atNoon + 1_000, limit)).toEqual(all.slice(0, limit));
        expect((await rows.due(atNoon + 1_000, 10)).map(({ stream }) => stream)).not.toContain(never);
        expect(await rows.nextDueAt()).toBe(atNoon + 10);
      }),
    );

    test(
      'live tokens are counted by type, and deleted tokens, expired tokens and other tenants’ tokens are not counted',
      on(async ({ work, rows, reopen }) => {
        const counted = async (now = atNoon) => Object.fromEntries(await rows.countByType('tenant', now));
        expect(await counted()).toEqual({});
        const write = tokenWrite(noTokenYet(), [tokenCreated({ expiresAt: atNoon + 5 })]);
        await work.commit(change(write));
        await create(work, {});
        await work.commit(change(tokenWrite(noTokenYet('ours'), [tokenCreated({ tenantId: 'ours' })])));
        expect(await counted()).toEqual({ card: 2 });
        expect(await counted(atNoon + 5)).toEqual({ card: 1 });
        const updated = tokenWrite(write.view, [tokenUpdated({ expiresAt: atNoon + 5 })], { index: 'keep' });
        await work.commit(change(updated));
        expect(await counted()).toEqual({ card: 2 });
        const asToken = { ...tokenCreated(), clear: { token_type: 'token', key: aHash() } };
        const again = tokenWrite(updated.view, [tokenExpired(atNoon + 5), asToken]);
        await work.commit(change(again));
        expect(await counted(atNoon + 5)).toEqual({ card: 1, token: 1 });
        const deleted = tokenWrite(again.view, [tokenDeleted()], { index: 'keep' });
        await work.commit(change(deleted));
        expect(await counted()).toEqual({ card: 1 });
        await work.commit(change(tokenWrite(deleted.view, [tokenCreated()])));
        expect(Object.fromEntries(await (await reopen()).rows.countByType('tenant', atNoon))).toEqual({ card: 2 });
      }),
    );

    test(
      'the next due time changes with updates and removals',
      on(async ({ work, rows }) => {
        const first = tokenWrite(noTokenYet(), [tokenCreated({ expiresAt: atNoon + 5 })]);
        await work.commit(change(first));
        await create(work, { cvcPurgeAt: atNoon + 100 });
        expect(await rows.nextDueAt()).toBe(atNoon + 5);
        const later = tokenWrite(first.view, [tokenUpdated({ expiresAt: atNoon + 70 })], { index: 'keep' });
        await work.commit(change(later));
        expect(await rows.nextDueAt()).toBe(atNoon + 70);
        const endless = tokenWrite(later.view, [tokenUpdated()], { index: 'keep' });
        await work.commit(change(endless));
        expect(await rows.nextDueAt()).toBe(atNoon + 100);
        await expectGone(work, rows);
      }),
    );
  });
}

async function expectGone(work: UnitOfWork, rows: TokenRows): Promise<void> {
  const soonest = tokenWrite(noTokenYet(), [tokenCreated({ expiresAt: atNoon + 1, cvcPurgeAt: atNoon + 2 })]);
  await work.commit(change(soonest));
  expect(await rows.nextDueAt()).toBe(atNoon + 1);
  await work.commit(change(tokenWrite(soonest.view, [tokenDeleted()], { index: 'keep' })));
  expect(await rows.nextDueAt()).toBe(atNoon + 100);
  expect(await rows.due(atNoon + 50, 10)).toEqual([]);
}

async function create(
  work: UnitOfWork,
  times: { readonly expiresAt?: number; readonly cvcPurgeAt?: number },
): Promise<string> {
  const write = tokenWrite(noTokenYet(), [tokenCreated(times)]);
  await work.commit(change(write));
  return write.stream;
}
