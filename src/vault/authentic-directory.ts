import type { KeyRing } from '../keys/key-ring.js';
import type { Directory } from '../ports/directory.js';
import { directoryName } from '../ports/key-store.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import { isAuthenticRecord, type Stored } from '../views/row-mac.js';
import { ForgedRow, type ForgedWhat } from './forged-row.js';

export type CheckedRecord = { readonly record: DirectoryRecord; readonly problem: ForgedWhat | null };

/** The directory that commands read. Each record was written by the vault and is the newest version. */
export type AuthenticDirectory = Directory<DirectoryRecord> & {
  /** Returns every record of a kind, each with its problem if it has one. */
  check(kind: DirectoryRecord['kind']): Promise<readonly CheckedRecord[]>;
};

type Deps = {
  readonly directory: Directory;
  readonly keys: Pick<KeyRing, 'directoryRevisions'>;
  readonly key: Uint8Array;
  /**
   * Updates a tenant's rows and their recorded revisions from the log, in case a process died after it appended events
   * but before it wrote the rows.
   */
  readonly heal: (tenantId: string) => Promise<void>;
};

type Records = readonly Stored<DirectoryRecord>[];
type Revisions = ReadonlyMap<string, number>;

/**
 * Verifies every record that is read. The MAC must be valid, and the record must not be older than the revision in the
 * key store (`noteDirectory`). Otherwise, reads throw ForgedRow. Threat: an attacker that can write the rows puts back
 * an older version of an application, from before its rules were narrowed or before it was deleted.
 */
export function authenticDirectory({ directory, keys, key, heal }: Deps): AuthenticDirectory {
  /**
   * Returns the revisions that the key store has recorded for these records. Reads only those that are not in `known`.
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
    for (const isLast of [false, true]) {
      const found = await read();
      const records = recordsOf(found);
      const forged = records.find((record) => !isAuthenticRecord(key, record));
      if (forged !== undefined) throw new ForgedRow({ of: forged.kind, name: forged.id }, 'not_authentic');
      known = await revisionsOf(records, known);
      const outdated = records.filter((record) => isOutdated(record, known));
      const [first] = outdated;
      if (first === undefined) return { found, records: records.map(plain) };
      if (isLast) throw new ForgedRow({ of: first.kind, name: first.id }, 'outdated');
      // Either the record changed after it was read, or the process that changed it died before it had written
      // everything.
      for (const tenantId of new Set(outdated.map((record) => record.tenantId))) await heal(tenantId);
    }
    throw new Error('the last attempt must return or throw');
  }

  /**
   * Throws ForgedRow unless these are the requested records. Threat: because of a damaged index, a database view or
   * swapped rows, the store returns a different record.
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
 * Returns whether the key store has recorded a newer revision of the record. A record that the key store does not know
 * also counts as outdated, because its creation was never completed.
 */
function isOutdated(record: DirectoryRecord, known: Revisions): boolean {
  return record.revision < (known.get(directoryName(record)) ?? Number.POSITIVE_INFINITY);
}

function plain({ mac: _, ...record }: Stored<DirectoryRecord>): DirectoryRecord {
  return record;
}
