import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Directory } from '#src/ports/directory.js';
import { type AuthenticDirectory, authenticDirectory } from '#src/vault/authentic-directory.js';
import { ForgedRow } from '#src/vault/forged-row.js';
import { applicationDocument } from '#src/vault/open-directory.js';
import type { DirectoryRecord } from '#src/views/directory-view.js';
import { type Stored, withDirectoryMac } from '#src/views/row-mac.js';
import { startTestService, type TestService } from '../../support/test-service.js';

let service: TestService;
let tenant: DirectoryRecord;
let own: DirectoryRecord;
let other: DirectoryRecord;
let foreign: DirectoryRecord;
beforeEach(async () => {
  service = await startTestService();
  await service.application(['token:read']);
  await service.otherTenant();
  const { directory } = service.vault;
  const all = await directory.list('application');
  const mine = all.filter(({ tenantId }) => tenantId === service.tenantId);
  [own, other] = [taken(mine[0]), taken(mine[1])];
  foreign = taken(all.find(({ tenantId }) => tenantId !== service.tenantId));
  tenant = taken(await directory.get('tenant', service.tenantId));
});
afterEach(() => service.close());

function taken(record: DirectoryRecord | null | undefined): DirectoryRecord {
  if (record == null) throw new Error('there is no such record');
  return record;
}

/**
 * Returns a directory that reads records as the vault's directory does. The store below it always returns this record,
 * with the MAC that the vault computed for it.
 */
async function returning(record: DirectoryRecord): Promise<AuthenticDirectory> {
  const { keys, directory } = service.vault;
  const key = (await keys.integrityKeys()).rows;
  const stored: Stored<DirectoryRecord> = withDirectoryMac(key, record);
  const store: Directory = {
    get: async () => stored,
    byKeyHash: async () => stored,
    list: async () => [stored],
    applications: async () => ({ records: [stored], total: 1 }),
    keyUsedIn: directory.keyUsedIn,
    markKeyUsed: directory.markKeyUsed,
  };
  const heal = async () => expect.unreachable('no record is outdated');
  return authenticDirectory({ directory: store, keys, key, heal });
}

async function expectForged(read: Promise<unknown>, { kind, id }: Pick<DirectoryRecord, 'kind' | 'id'>): Promise<void> {
  const error = await read.then(
    () => expect.unreachable('a record that was not asked for is returned'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ForgedRow);
  expect(String(error)).toContain(`${kind} ${id}`);
}

const anyOf = { ids: null, types: null };
const page = { offset: 0, limit: 10 };
const pause = () => undefined;

describe('an authentic record that a store returns', () => {
  test('is accepted if it is the requested record and its document opens', async () => {
    const directory = await returning(own);
    const found = taken(await directory.get('application', own.id));
    expect(found).toEqual(own);
    expect((await applicationDocument(service.vault, found))?.name).toEqual(expect.any(String));
    expect(await directory.byKeyHash(own.keys[0]?.hash ?? '')).toEqual(own);
    expect(await directory.list('application')).toEqual([own]);
    expect((await directory.applications(service.tenantId, anyOf, page, pause)).records).toEqual([own]);
  });

  test('is rejected if it belongs to another application, of the same tenant or of another one', async () => {
    for (const record of [other, foreign]) {
      const directory = await returning(record);
      // The document in the record is intact, so no later step would notice that this is another application's record.
      expect(await applicationDocument(service.vault, record)).not.toBeNull();
      await expectForged(directory.get('application', own.id), record);
      await expectForged(directory.byKeyHash(own.keys[0]?.hash ?? ''), record);
    }
    const directory = await returning(foreign);
    await expectForged(directory.applications(service.tenantId, anyOf, page, pause), foreign);
  });

  test('is rejected if an application was requested and it is a tenant’s record, or the reverse', async () => {
    const ofTenant = await returning(tenant);
    await expectForged(ofTenant.get('application', tenant.id), tenant);
    await expectForged(ofTenant.list('application'), tenant);
    await expectForged(ofTenant.applications(service.tenantId, anyOf, page, pause), tenant);
    const ofApplication = await returning(own);
    await expectForged(ofApplication.get('tenant', own.id), own);
    await expectForged(ofApplication.list('tenant'), own);
  });
});

describe('a list during changes', () => {
  /** Returns a directory that lists these records, one list after the other, and knows the revisions in `noted`. */
  async function listing(
    lists: readonly (readonly DirectoryRecord[])[],
    noted: Map<string, number>,
    heal: () => void,
  ): Promise<AuthenticDirectory> {
    const { keys: ring, directory } = service.vault;
    const key = (await ring.integrityKeys()).rows;
    let reads = 0;
    const list = async () => {
      const records = lists[Math.min(reads, lists.length - 1)] ?? [];
      reads += 1;
      return records.map((record) => withDirectoryMac(key, record));
    };
    const store: Directory = {
      list,
      get: async () => null,
      byKeyHash: async () => null,
      applications: async () => ({ records: [], total: 0 }),
      keyUsedIn: directory.keyUsedIn,
      markKeyUsed: directory.markKeyUsed,
    };
    const keys = { directoryRevisions: async () => new Map(noted) };
    return authenticDirectory({ directory: store, keys, key, heal: async () => heal() });
  }

  const nameOf = ({ id }: DirectoryRecord) => `application-${id}`;

  test('is not taken for a forgery if each read finds a different record that is just being created', async () => {
    const noted = new Map<string, number>();
    const created = [own, other, foreign];
    const lists = created.map((_, index) => created.slice(0, index + 1));
    let heals = 0;
    const directory = await listing(lists, noted, () => {
      for (const record of lists[heals] ?? []) noted.set(nameOf(record), record.revision);
      heals += 1;
    });
    expect(await directory.list('application')).toEqual(created);
    expect(heals).toBe(3);
  });

  test('fails with 503 if this does not end', async () => {
    const lists = Array.from({ length: 20 }, (_, revision) => [{ ...own, revision }]);
    const directory = await listing(lists, new Map(), () => undefined);
    await expect(directory.list('application')).rejects.toThrow('race_not_settled');
  });

  test('fails because of a forgery if a record stays outdated after it was brought up to date', async () => {
    const newer = new Map([[nameOf(own), own.revision + 1]]);
    const directory = await listing([[own], [{ ...own, revision: own.revision - 1 }], [own]], newer, () => undefined);
    await expectForged(directory.list('application'), own);
  });
});
