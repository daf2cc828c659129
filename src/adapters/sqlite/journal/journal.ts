import { createHash } from 'node:crypto';
import { StoreBroken } from '../database/database-error.js';
import { commitAlone, createGroupCommit } from '../database/group-commit.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { reading } from '../database/reading.js';
import { journalSchema } from './journal-schema.js';

/**
 * The sequence number and hash of the newest group or batch that was appended. The journal may no longer contain that
 * group or batch.
 */
export type JournalEnd = { readonly sequence: number; readonly hash: Uint8Array };

/** The changes in one `vault.db` commit. `position` is the position of the newest event after the commit. */
export type JournalGroup = JournalEnd & { readonly position: number; readonly changes: Buffer };

/** A batch of access log entries. `lines` contains their lines, separated by line breaks. */
export type JournalBatch = JournalEnd & { readonly previous: Uint8Array; readonly lines: string };

/**
 * One append removes at most this many groups and at most this many batches, and only those that are durable elsewhere.
 * An append adds fewer rows than this, so the journal stays short. The limit prevents a single append from taking too
 * long.
 */
const removedAtOnce = 8;

export type Journal = ReturnType<typeof createJournal>;

/** Returns the hash of a group. `previous` is the hash of the group before it. */
export function groupHash(previous: Uint8Array, sequence: number, changes: Uint8Array): Buffer {
  return createHash('sha256').update(previous).update(`\n${sequence}\n`).update(changes).digest();
}

/**
 * Appends to `journal.db`, and removes rows that are durable elsewhere. Only the writer thread calls this function.
 * `applied` is the newest group in `vault.db`. If the journal does not end with `applied`, the first change discards
 * all groups in the journal, and the next group follows `applied`. Before the first change, the journal file stays
 * unchanged, so the vault can still refuse to start without losing data.
 */
export function createJournal(database: SqliteDatabase, applied: JournalEnd) {
  let isElsewhere = !isSameEnd(endOf(database, 'groups'), applied);
  const setEnd = database.prepare(`UPDATE ends SET sequence = ?, hash = ? WHERE of = 'groups'`);
  const dropGroups = database.prepare('DELETE FROM groups');
  const commit = createGroupCommit(database, 'journal.db', journalSchema);
  const groups = tableOf(database, 'groups');
  const batches = tableOf(database, 'batches');
  const insertGroup = database.prepare(
    'INSERT INTO groups (sequence, hash, position, changes) VALUES (@sequence, @hash, @position, @changes)',
  );
  const insertBatch = database.prepare(
    'INSERT INTO batches (sequence, previous, hash, lines) VALUES (@sequence, @previous, @hash, @lines)',
  );

  /**
   * Runs `work` in one transaction and makes it durable. If nothing was stored, returns an error with the reason.
   * Otherwise returns null.
   */
  function change(work: () => void): Error | null {
    const attempt = commitAlone(commit, () => {
      if (isElsewhere) {
        dropGroups.run();
        setEnd.run(applied.sequence, applied.hash);
      }
      work();
    });
    if (!attempt.ok) return attempt.error;
    isElsewhere = false;
    return null;
  }

  return {
    /**
     * Makes a group and some batches durable with one sync. If nothing was stored, returns an error with the reason.
     * Otherwise returns null.
     */
    append: (group: JournalGroup | null, newBatches: readonly JournalBatch[]): Error | null =>
      change(() => {
        if (group !== null) insertGroup.run(group);
        for (const batch of newBatches) insertBatch.run(batch);
        groups.removeSome();
        batches.removeSome();
      }),
    /** Marks all groups up to this one as durable in `vault.db`. Later appends remove them from the journal. */
    groupsAreStored: groups.areDone,
    /** Marks all batches up to this one as durable in the month files. Later appends remove them from the journal. */
    batchesAreStored: batches.areDone,
    /** Removes all groups and batches that are marked as durable elsewhere. */
    removeStored: (): Error | null =>
      change(() => {
        groups.removeDone();
        batches.removeDone();
      }),
    /**
     * Removes all groups, and the batches that are marked as durable in the month files. Call this only if all groups
     * are durable in `vault.db`.
     */
    clear: (): Error | null =>
      change(() => {
        groups.removeAll();
        batches.removeDone();
      }),
    isElsewhere: (): boolean => isElsewhere,
    endOfBatches: (): JournalEnd => endOf(database, 'batches'),
  };
}

/**
 * Returns the newest group or batch that was ever appended to the journal, even if it has been removed. Throws
 * StoreBroken if `ends` was changed by another program.
 */
export function endOf(database: SqliteDatabase, of: 'groups' | 'batches'): JournalEnd {
  const removed = removedIn(database, of);
  const newest = database.prepare(`SELECT sequence, hash FROM ${of} ORDER BY sequence DESC LIMIT 1`);
  const left = reading(() => newest.get() as JournalEnd | undefined, 'journal.db');
  return left !== undefined && left.sequence > removed.sequence ? left : removed;
}

/**
 * Returns the newest group or batch that was removed from the journal. Throws StoreBroken if `ends` was changed by
 * another program.
 */
export function removedIn(database: SqliteDatabase, of: 'groups' | 'batches'): JournalEnd {
  const stored = database.prepare(`SELECT sequence, hash FROM ends WHERE of = '${of}'`);
  const removed = reading(() => stored.get() as JournalEnd | undefined, 'journal.db');
  if (removed !== undefined && isSequence(removed.sequence)) return removed;
  throw changedJournal(`the record of the newest row in ${of} is ${removed === undefined ? 'missing' : 'impossible'}`);
}

export function isSameEnd(one: JournalEnd, other: JournalEnd): boolean {
  return one.sequence === other.sequence && Buffer.compare(one.hash, other.hash) === 0;
}

/** Returns true if another sequence number can follow this one. */
export function isSequence(sequence: number): boolean {
  return sequence >= 0 && Number.isSafeInteger(sequence + 1);
}

/** Returns the error for a journal that contains something that the vault never writes. */
export function changedJournal(what: string): StoreBroken {
  return new StoreBroken({
    check: 'journal',
    says: `journal.db was changed by another program: ${what}`,
    do: 'Find out who can write to the data directory, then restore it from a backup',
  });
}

/** Creates the functions that remove rows from one table. The caller runs these functions inside a transaction. */
function tableOf(database: SqliteDatabase, of: 'groups' | 'batches') {
  const position = of === 'groups' ? 'position' : '0';
  const noteEnd = database.prepare(
    `UPDATE ends SET sequence = removed.sequence, hash = removed.hash, position = removed.position
     FROM (SELECT sequence, hash, ${position} AS position FROM ${of} WHERE sequence <= ? ORDER BY sequence DESC LIMIT 1)
       AS removed
     WHERE of = '${of}'`,
  );
  const oldest = database.prepare(`SELECT min(sequence) FROM ${of}`).pluck();
  const remove = database.prepare(`DELETE FROM ${of} WHERE sequence <= ?`);
  const removeAll = database.prepare(`DELETE FROM ${of}`);
  /** All rows up to this sequence number are durable elsewhere. */
  let done = 0;

  function removeUpTo(upTo: number): void {
    noteEnd.run(upTo);
    remove.run(upTo);
  }

  return {
    areDone(upTo: number): void {
      done = Math.max(done, upTo);
    },
    removeSome(): void {
      const first = oldest.get() as number | null;
      if (first !== null && first <= done) removeUpTo(Math.min(done, first + removedAtOnce - 1));
    },
    removeDone: (): void => removeUpTo(done),
    /**
     * Deletes all rows of the table. SQLite then overwrites all pages of the table, including leftover bytes of records
     * that were moved.
     */
    removeAll(): void {
      noteEnd.run(Number.MAX_SAFE_INTEGER);
      removeAll.run();
    },
  };
}
