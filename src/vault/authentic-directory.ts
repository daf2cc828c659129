import type { KeyRing } from '../keys/key-ring.js';
import type { Directory } from '../ports/directory.js';
import { directoryName } from '../ports/key-store.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import { isAuthenticRecord, type Stored } from '../views/row-mac.js';
import { ForgedRow, type ForgedWhat } from './forged-row.js';

export type CheckedRecord = { readonly record: DirectoryRecord; readonly problem: ForgedWhat | null };

/**
 * The directory read by commands. Except for `check` and `unverified`, its methods return only records that the vault
 * wrote, and only their newest versions.
 */
export type AuthenticDirectory = Directory<DirectoryRecord> & {
  /** Returns all records of a kind. A record that fails verification is returned together with its problem. */
  check(kind: DirectoryRecord['kind']): Promise<readonly CheckedRecord[]>;
  /** Returns a record without verification, and changes nothing even if the record is outdated. */
  unverified(kind: DirectoryRecord['kind'], id: string): Promise<DirectoryRecord | null>;
};

type Deps = {
  readonly directory: Directory;
  readonly keys: Pick<KeyRing, 'directoryRevisions'>;
  readonly key: Uint8Array;
  /**
   * Brings a tenant's rows and their recorded revisions up to date from the log. This is needed if a process crashed
   * between appending events and writing the rows.
   */
  readonly heal: (tenantId: string) => Promise<void>;
};

type Records = readonly Stored<DirectoryRecord>[];
type Revisions = ReadonlyMap<string, number>;

/** How often records are read while processes keep creating or changing some of them. */
const readsMax = 5;

/**
 * Verifies every record that is read. The MAC must be valid, and the record must not be older than the revision that
 * the key store has recorded (`noteDirectory`). If a record fails the verification, the read throws ForgedRow. If
 * records change during each read, it throws StoreUnavailable. Threat: an attacker who can write the rows restores an
 * older version of an application that has more rights or has not been deleted yet.
 */
export function authenticDirectory({ directory, keys, key, heal }: Deps): AuthenticDirectory {
  /**
   * Returns the revisions recorded in the key store for these records. Reads only the revisions that are not in
   * `known`.
   */
  async function revisionsOf(records: Records, known: Revisions): Promise<Revisions> {
    const unknown = records.filter((record) => !known.has(directoryName(record)));
    return unknown.length === 0 ? known : new Map([...known, ...(await keys.directoryRevisions(unknown))]);
  }

  async function verified<T>(
    read: () => Promise<T>,
    recordsOf: (found: T) => Records,
  ): Promise<{ readonly found: T; readonly records: readonly DirectoryRecord[] }> {
    let known: Revisions = new Map();
    const healed = new Set<string>();
    for (let reads = 0; reads < readsMax; reads += 1) {
      const found = await read();
      const records = recordsOf(found);
      const forged = records.find((record) => !isAuthenticRecord(key, record));
      if (forged !== undefined) throw new ForgedRow({ of: forged.kind, name: forged.id }, 'not_authentic');
      known = await revisionsOf(records, known);
      const outdated = records.filter((record) => isOutdated(record, known));
      if (outdated.length === 0) return { found, records: records.map(plain) };
      const again = outdated.find((record) => healed.has(versionOf(record)));
      if (again !== undefined) throw new ForgedRow({ of: again.kind, name: again.id }, 'outdated');
      // A mismatch can have two harmless causes. The record may have changed after it was read, or a process may have
      // crashed in the middle of changing the record. A list can find a different such record on each read.
      for (const record of outdated) healed.add(versionOf(record));
      for (const tenantId of new Set(outdated.map((record) => record.tenantId))) await heal(tenantId);
    }
    throw new StoreUnavailable('directory', 'race_not_settled');
  }

  /**
   * Throws ForgedRow if a record is not one of the requested records. Threat: an attacker swaps rows, or damages an
   * index or a database view, so that the store returns a different record.
   */
  function expectAsked(records: readonly DirectoryRecord[], isAsked: (record: DirectoryRecord) => boolean): void {
    const other = records.find((record) => !isAsked(record));
    if (other !== undefined) throw new ForgedRow({ of: other.kind, name: other.id }, 'not_authentic');
  }

  async function one(
    read: () => Promise<Stored<DirectoryRecord> | null>,
    isAsked: (record: DirectoryRecord) => boolean,
  ): Promise<DirectoryRecord | null> {
    const { records } = await verified(read, (record) => (record === null ? [] : [record]));
    expectAsked(records, isAsked);
    return records[0] ?? null;
  }

  return {
    ...directory,
    byKeyHash: (keyHash) =>
      one(
        () => directory.byKeyHash(keyHash),
        ({ keys: issued }) => issued.some(({ hash }) => hash === keyHash),
      ),
    get: (kind, id) =>
      one(
        () => directory.get(kind, id),
        (record) => record.kind === kind && record.id === id,
      ),
    async list(kind) {
      const { records } = await verified(
        () => directory.list(kind),
        (all) => all,
      );
      expectAsked(records, (record) => record.kind === kind);
      return records;
    },
    async applications(...asked) {
      const { found, records } = await verified(
        () => directory.applications(...asked),
        (page) => page.records,
      );
      const [tenantId] = asked;
      expectAsked(records, (record) => record.kind === 'application' && record.tenantId === tenantId);
      return { records, total: found.total };
    },
    unverified: (kind, id) => directory.get(kind, id),
    async check(kind) {
      const records = await directory.list(kind);
      const known = await revisionsOf(records, new Map());
      return records.map((record) => {
        if (!isAuthenticRecord(key, record)) return { record, problem: 'not_authentic' as const };
        return { record, problem: isOutdated(record, known) ? ('outdated' as const) : null };
      });
    },
  };
}

/**
 * Returns true if the key store has recorded a newer revision of the record. A record without a recorded revision also
 * counts as outdated, because its creation was not completed.
 */
function isOutdated(record: DirectoryRecord, known: Revisions): boolean {
  return record.revision < (known.get(directoryName(record)) ?? Number.POSITIVE_INFINITY);
}

function versionOf(record: DirectoryRecord): string {
  return `${directoryName(record)}@${record.revision}`;
}

function plain({ mac: _, ...record }: Stored<DirectoryRecord>): DirectoryRecord {
  return record;
}
