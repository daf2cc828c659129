import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ApplicationFilter } from '#src/ports/directory.js';
import type { UnitOfWork } from '#src/ports/unit-of-work.js';
import type { DirectoryRecord } from '#src/views/directory-view.js';
import { type Stored, withDirectoryMac } from '#src/views/row-mac.js';
import { aBox, aHash, anEvent, atNoon, bytes, change, macKey, type OpenStores, onStores } from './support.js';

/** Defines the tests that every adapter for `Directory` must pass. */
export function directoryContract(name: string, open: OpenStores): void {
  const on = (run: Parameters<typeof onStores>[1]) => onStores(open, run);

  describe(`Directory: ${name}`, () => {
    test(
      'an unknown id or key is not found',
      on(async ({ directory }) => {
        expect(await directory.get('tenant', randomUUID())).toBeNull();
        expect(await directory.byKeyHash(aHash())).toBeNull();
        expect(await directory.list('application')).toEqual([]);
      }),
    );

    test(
      'a record is found unchanged by its id and by each of its keys, even after a restart',
      on(async ({ work, directory, reopen }) => {
        const record = aRecord({ keys: [aKey(), aKey(), aKey()] });
        await put(work, record);
        await put(work, aRecord());
        for (const reader of [async () => directory, async () => (await reopen()).directory]) {
          const store = await reader();
          const found = [await store.get('application', record.id)];
          for (const { hash } of record.keys) found.push(await store.byKeyHash(hash));
          for (const one of found) expect(plain(one)).toEqual(plain(record));
        }
      }),
    );

    test(
      'records of different kinds are distinct',
      on(async ({ work, directory }) => {
        const id = randomUUID();
        const tenant = aRecord({ kind: 'tenant', id, applicationType: null, keys: [] });
        const application = aRecord({ kind: 'application', id });
        await put(work, tenant);
        await put(work, application);
        expect(plain(await directory.get('tenant', id))).toEqual(plain(tenant));
        expect(plain(await directory.get('application', id))).toEqual(plain(application));
        expect((await directory.list('tenant')).map(plain)).toEqual([plain(tenant)]);
        expect((await directory.list('application')).map(plain)).toEqual([plain(application)]);
      }),
    );

    test(
      'once a change that revokes a key is stored, that key is no longer found, and the other keys are',
      on(async ({ work, directory }) => {
        const [kept, revoked, added] = [aKey(), aKey(), aKey()];
        const record = aRecord({ keys: [kept, revoked] });
        await put(work, record);
        const next = { ...record, revision: 1, contentRevision: 1, content: aBox(), keys: [kept, added] };
        await put(work, next);
        expect(await directory.byKeyHash(revoked.hash)).toBeNull();
        for (const { hash } of [kept, added]) expect(plain(await directory.byKeyHash(hash))).toEqual(plain(next));
      }),
    );

    test(
      'a removed record stays removed, and no key finds it',
      on(async ({ work, directory }) => {
        const key = aKey();
        const record = aRecord({ keys: [key] });
        await put(work, record);
        const removed = { ...record, revision: 1, content: null, keys: [], removedAt: atNoon };
        await put(work, removed);
        expect(await directory.byKeyHash(key.hash)).toBeNull();
        expect(plain(await directory.get('application', record.id))).toEqual(plain(removed));
      }),
    );

    test(
      'a change that loses a race leaves the keys unchanged',
      on(async ({ work, directory }) => {
        const [key, other] = [aKey(), aKey()];
        const record = aRecord({ keys: [key] });
        await put(work, record);
        const write = { ...writeOf({ ...record, revision: 5, keys: [other] }), expectedRevision: 4 };
        expect(await work.commit(change(write))).toEqual({ outcome: 'conflict' });
        expect(await directory.byKeyHash(other.hash)).toBeNull();
        expect(plain(await directory.byKeyHash(key.hash))).toEqual(plain(record));
      }),
    );

    test(
      'a tenant’s live applications are returned in pages, newest first, with the exact total for the filter',
      on(async ({ work, directory }) => {
        const tenantId = randomUUID();
        const made = await Promise.all(
          Array.from({ length: 7 }, async (_, createdRevision) => {
            const applicationType = createdRevision % 2 === 0 ? ('public' as const) : ('private' as const);
            const record = aRecord({ tenantId, createdRevision, applicationType });
            await put(work, record);
            return record;
          }),
        );
        await put(work, aRecord());
        await put(work, aRecord({ kind: 'tenant', id: tenantId, tenantId, applicationType: null, keys: [] }));
        const [oldest, second] = made;
        if (oldest === undefined || second === undefined) throw new Error('seven were made');
        await put(work, { ...second, revision: 1, content: null, keys: [], removedAt: atNoon });
        const list = async (filter: Partial<ApplicationFilter>, offset = 0, limit = 10) => {
          const found = await directory.applications(
            tenantId,
            { ids: null, types: null, ...filter },
            { offset, limit },
            () => undefined,
          );
          return { order: found.records.map(({ createdRevision }) => createdRevision), total: found.total };
        };
        expect(await list({})).toEqual({ order: [6, 5, 4, 3, 2, 0], total: 6 });
        expect(await list({}, 2, 3)).toEqual({ order: [4, 3, 2], total: 6 });
        expect(await list({}, 60, 3)).toEqual({ order: [], total: 6 });
        expect(await list({ types: ['public'] }, 1, 2)).toEqual({ order: [4, 2], total: 4 });
        expect(await list({ types: ['public', 'private'], ids: [oldest.id, randomUUID()] })).toEqual({
          order: [0],
          total: 1,
        });
        expect(await list({ types: [] })).toEqual({ order: [], total: 0 });
        expect(await list({ ids: [second.id] })).toEqual({ order: [], total: 0 });
      }),
    );

    test(
      'the minute of last use survives changes to the application, never decreases, and is removed with the key',
      on(async ({ work, directory, reopen }) => {
        const [key, other] = [aKey(), aKey()];
        const record = aRecord({ keys: [key, other] });
        await put(work, record);
        expect(await directory.keyUsedIn(key.hash)).toBeNull();
        await directory.markKeyUsed(key.hash, 20_000);
        await directory.markKeyUsed(key.hash, 19_999);
        await directory.markKeyUsed(aHash(), 20_000);
        await put(work, { ...record, revision: 1, keys: [key] });
        const again = (await reopen()).directory;
        expect(await again.keyUsedIn(key.hash)).toBe(20_000);
        expect(await again.keyUsedIn(other.hash)).toBeNull();
      }),
    );
  });
}

function aRecord(given: Partial<DirectoryRecord> = {}): DirectoryRecord {
  const id = given.id ?? randomUUID();
  const kind = given.kind ?? 'application';
  return {
    kind,
    id,
    tenantId: randomUUID(),
    applicationType: 'private',
    revision: 0,
    createdRevision: 0,
    contentRevision: 0,
    content: aBox(),
    keys: [aKey()],
    removedAt: null,
    ...given,
  };
}

function aKey() {
  return { id: randomUUID(), hash: aHash() };
}

function writeOf(record: DirectoryRecord) {
  const { kind, id, revision } = record;
  return {
    stream: `${kind}-${id}`,
    expectedRevision: revision - 1,
    events: [anEvent()],
    row: { of: 'directory', records: [withDirectoryMac(macKey, record)] } as const,
    distinct: null,
  };
}

async function put(work: UnitOfWork, record: DirectoryRecord): Promise<void> {
  expect(await work.commit(change(writeOf(record)))).toEqual({ outcome: 'committed' });
}

/**
 * Returns a record without its MAC, in a form that tests can compare. If the record has a MAC, first checks that the
 * MAC is correct.
 */
function plain(given: DirectoryRecord | Stored<DirectoryRecord> | null): unknown {
  if (given === null) return null;
  const { mac, ...record } = withDirectoryMac(macKey, given);
  if ('mac' in given) expect(bytes(given.mac)).toEqual(bytes(mac));
  return {
    ...record,
    content: bytes(record.content),
    keys: [...record.keys].sort((a, b) => (a.hash < b.hash ? -1 : 1)),
  };
}
