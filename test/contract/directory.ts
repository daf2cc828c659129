import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { DirectoryRecord } from '#src/ports/directory.js';
import type { UnitOfWork } from '#src/ports/unit-of-work.js';
import { aBox, aHash, anEvent, atNoon, bytes, change, type OpenStores, onStores } from './support.js';

/** What every `Directory` must do; an adapter runs it in one line. */
export function directoryContract(name: string, open: OpenStores): void {
  const on = (run: Parameters<typeof onStores>[1]) => onStores(open, run);

  describe(`Directory of ${name}`, () => {
    test(
      'an unknown id or key is not found',
      on(async ({ directory }) => {
        expect(await directory.get('tenant', randomUUID())).toBeNull();
        expect(await directory.byKeyHash(aHash())).toBeNull();
        expect(await directory.list('application')).toEqual([]);
      }),
    );

    test(
      'a record is found by id and by each of its keys, as it was written, also after a restart',
      on(async ({ work, directory, reopen }) => {
        const record = aRecord({ keyHashes: [aHash(), aHash(), aHash()] });
        await put(work, record);
        await put(work, aRecord({ keyHashes: [aHash()] }));
        for (const reader of [async () => directory, async () => (await reopen()).directory]) {
          const store = await reader();
          const found = [await store.get('application', record.id)];
          for (const hash of record.keyHashes) found.push(await store.byKeyHash(hash));
          for (const one of found) expect(plain(one)).toEqual(plain(record));
        }
      }),
    );

    test(
      'kinds are told apart',
      on(async ({ work, directory }) => {
        const id = randomUUID();
        const tenant = aRecord({ kind: 'tenant', id, keyHashes: [] });
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
      'a revoked key is not found from the moment its change is stored; the others are',
      on(async ({ work, directory }) => {
        const [kept, revoked, added] = [aHash(), aHash(), aHash()];
        const record = aRecord({ keyHashes: [kept, revoked] });
        await put(work, record);
        const next = { ...record, revision: 1, contentRevision: 1, content: aBox(), keyHashes: [kept, added] };
        await put(work, next);
        expect(await directory.byKeyHash(revoked)).toBeNull();
        for (const hash of [kept, added]) expect(plain(await directory.byKeyHash(hash))).toEqual(plain(next));
      }),
    );

    test(
      'a removed record stays as such, and no key finds it',
      on(async ({ work, directory }) => {
        const hash = aHash();
        const record = aRecord({ keyHashes: [hash] });
        await put(work, record);
        const removed = { ...record, revision: 1, content: null, keyHashes: [], removedAt: atNoon };
        await put(work, removed);
        expect(await directory.byKeyHash(hash)).toBeNull();
        expect(plain(await directory.get('application', record.id))).toEqual(plain(removed));
      }),
    );

    test(
      'a change that lost its race leaves the keys as they were',
      on(async ({ work, directory }) => {
        const [hash, other] = [aHash(), aHash()];
        const record = aRecord({ keyHashes: [hash] });
        await put(work, record);
        const write = { ...writeOf({ ...record, revision: 5, keyHashes: [other] }), expectedRevision: 4 };
        expect(await work.commit(change(write))).toEqual({ outcome: 'conflict' });
        expect(await directory.byKeyHash(other)).toBeNull();
        expect(plain(await directory.byKeyHash(hash))).toEqual(plain(record));
      }),
    );
  });
}

function aRecord(given: Partial<DirectoryRecord> = {}): DirectoryRecord {
  const id = given.id ?? randomUUID();
  const kind = given.kind ?? 'application';
  return {
    ...{ kind, id, tenantId: randomUUID(), stream: `${kind}-${id}`, revision: 0, contentRevision: 0 },
    ...{ content: aBox(), keyHashes: [aHash()], removedAt: null },
    ...given,
  };
}

function writeOf(record: DirectoryRecord) {
  const { stream, revision } = record;
  return {
    stream,
    expectedRevision: revision - 1,
    events: [anEvent()],
    row: { of: 'directory', record } as const,
    distinct: null,
  };
}

async function put(work: UnitOfWork, record: DirectoryRecord): Promise<void> {
  expect(await work.commit(change(writeOf(record)))).toEqual({ outcome: 'committed' });
}

function plain(record: DirectoryRecord | null): unknown {
  if (record === null) return null;
  return { ...record, content: bytes(record.content), keyHashes: [...record.keyHashes].sort() };
}
