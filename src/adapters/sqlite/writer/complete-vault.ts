import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { databaseError, StoreBroken } from '../database/database-error.js';
import { numberBytes, numberIn } from '../database/number-bytes.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { decodeChanges } from '../journal/change-bytes.js';
import { endOf, groupHash, isSameEnd, type JournalEnd, type JournalGroup, removedIn } from '../journal/journal.js';
import { isWhole, nextBatch } from '../journal/read-batches.js';
import { syncLog, truncating } from './erasure.js';
import { createVaultOperations } from './vault-operations.js';

type Files = { readonly vault: SqliteDatabase; readonly keys: SqliteDatabase; readonly journal: SqliteDatabase };

/**
 * Applies the journal groups that are missing from `vault.db` after a power failure. When a data directory is opened
 * for writing, this function must be called before anything else. Returns a message for the operator if `vault.db` and
 * the journal do not end at the same group, or null if there is nothing to report. Throws StoreBroken if the journal was
 * changed by another program or belongs to a different `vault.db`.
 *
 * If the journal no longer contains the group that `vault.db` needs next, `vault.db` was replaced with an older copy.
 * In that case, this function records in the key store how far the event log had reached. `vault/log-behind.ts` later
 * reports the problem.
 */
export function completeVault({ vault, keys, journal }: Files): string | null {
  expectBatches(journal);
  const applied = appliedIn(vault);
  const end = endOf(journal, 'groups');
  if (end.sequence === applied.sequence) {
    if (!isSameEnd(end, applied)) throw notTogether();
    expectDurable(vault);
    return null;
  }
  if (end.sequence < applied.sequence) {
    expectDurable(vault);
    // If the process was killed between the commits to `vault.db` and to the journal, `vault.db` has one more group
    // than the journal. That group was never acknowledged, so nothing is lost.
    if (applied.sequence - end.sequence === 1) return null;
    return (
      'journal.db ends before vault.db: its disk was full when the service stopped, or its end was damaged or ' +
      'removed. The access log may lack entries. Find out why'
    );
  }
  const nextOf = nextGroup(journal);
  if (removedIn(journal, 'groups').sequence > applied.sequence) {
    noteLog(keys, headOf(vault), positionIn(journal));
    return 'vault.db lacks changes that journal.db no longer contains: vault.db was replaced with an older copy';
  }
  expectChain(nextOf, applied, end);
  replay(vault, nextOf, applied, end);
  expectDurable(vault);
  return null;
}

/** Checks all journal groups after `applied`. This check completes before any of the groups is applied. */
function expectChain(nextOf: ReturnType<typeof nextGroup>, applied: JournalEnd, end: JournalEnd): void {
  let last = applied;
  while (last.sequence < end.sequence) {
    const group = nextOf(last);
    if (group?.sequence !== last.sequence + 1) throw altered(`group ${last.sequence + 1}`);
    if (!groupHash(last.hash, group.sequence, group.changes).equals(group.hash)) {
      throw altered(`group ${group.sequence}`);
    }
    last = { sequence: group.sequence, hash: group.hash };
  }
  if (!isSameEnd(last, end)) throw altered(`group ${end.sequence}`);
}

function replay(
  vault: SqliteDatabase,
  nextOf: ReturnType<typeof nextGroup>,
  applied: JournalEnd,
  end: JournalEnd,
): void {
  const operations = createVaultOperations(vault);
  const note = noteApplied(vault);
  const applyAndNote = vault.transaction((group: JournalGroup): void => {
    apply(operations, group);
    note(group);
  });
  for (let group = nextOf(applied); group !== undefined && group.sequence <= end.sequence; group = nextOf(group)) {
    try {
      applyAndNote.immediate(group);
    } catch (error) {
      const translated = databaseError(error, 'vault.db', vault.name);
      throw translated instanceof StoreUnavailable || translated instanceof StoreBroken
        ? translated
        : altered(`group ${group.sequence}`);
    }
  }
}

/** Replays the changes in a group. Every commit must succeed, as it did when the group was written. */
function apply(operations: ReturnType<typeof createVaultOperations>, group: JournalGroup): void {
  for (const { operation, input } of decodeChanges(group.changes)) {
    if (!Object.hasOwn(operations, operation)) throw altered(`group ${group.sequence}`);
    const run = operations[operation as keyof typeof operations] as (input: unknown) => unknown;
    const answer = run(input);
    if (operation !== 'commit') continue;
    if ((answer as { readonly outcome?: unknown }).outcome !== 'committed') throw altered(`group ${group.sequence}`);
  }
}

/** Checks that the access log batches in the journal form a chain. */
function expectBatches(journal: SqliteDatabase): void {
  const after = nextBatch(journal);
  for (let batch = after(0); batch !== null; ) {
    const next = after(batch.sequence);
    const goesOn =
      next === null || next.sequence !== batch.sequence + 1 || Buffer.compare(next.previous, batch.hash) === 0;
    if (!isWhole(batch) || !goesOn) throw altered(`batch ${batch.sequence}`);
    batch = next;
  }
}

/**
 * Makes `vault.db` durable. If the file was just created or the previous process was killed, the newest changes may be
 * in the write-ahead log but not yet on disk. While another program reads the file, for example to back it up, the log
 * cannot be emptied, and is synced instead. Throws StoreUnavailable if another program prevents writes.
 */
function expectDurable(vault: SqliteDatabase): void {
  const unavailable = truncating(vault, 'vault.db');
  if (unavailable === null) return;
  if (unavailable.reason !== 'busy') throw unavailable;
  try {
    vault.exec('BEGIN IMMEDIATE; ROLLBACK');
    syncLog(vault);
  } catch (error) {
    throw databaseError(error, 'vault.db');
  }
}

/**
 * Records in the key store that the log once reached `position`, although it now ends at `head`. Does nothing if the
 * key store already records a position after `head`.
 */
function noteLog(keys: SqliteDatabase, head: number, position: number): void {
  const known = keys.prepare(`SELECT value FROM meta WHERE name = 'log'`).pluck().get() as Buffer | undefined;
  if (position <= head || (known !== undefined && numberIn(known) > head)) return;
  keys.prepare(`INSERT OR REPLACE INTO meta (name, value) VALUES ('log', ?)`).run(numberBytes(position));
}

function headOf(vault: SqliteDatabase): number {
  return Number(vault.prepare('SELECT ifnull(max(position), 0) FROM events').pluck().get());
}

/**
 * Returns the position of the newest event in any group that was ever in the journal, including groups that have been
 * removed.
 */
function positionIn(journal: SqliteDatabase): number {
  const known = `SELECT position FROM ends WHERE of = 'groups' UNION ALL SELECT position FROM groups`;
  return Number(journal.prepare(`SELECT max(position) FROM (${known})`).pluck().get());
}

export function appliedIn(vault: SqliteDatabase): JournalEnd {
  return vault.prepare('SELECT sequence, hash FROM applied').get() as JournalEnd;
}

/**
 * Returns a function that records in `vault.db` that a group has been applied. Call it in the same transaction that
 * applies the group.
 */
export function noteApplied(vault: SqliteDatabase): (group: JournalEnd) => void {
  const note = vault.prepare('UPDATE applied SET sequence = ?, hash = ?');
  return ({ sequence, hash }) => void note.run(sequence, hash);
}

function nextGroup(journal: SqliteDatabase): (last: JournalEnd) => JournalGroup | undefined {
  const next = journal.prepare(
    'SELECT sequence, hash, position, changes FROM groups WHERE sequence > ? ORDER BY sequence LIMIT 1',
  );
  return ({ sequence }) => next.get(sequence) as JournalGroup | undefined;
}

function notTogether(): StoreBroken {
  return new StoreBroken({
    check: 'journal',
    says: 'journal.db and vault.db do not belong together',
    do: 'Restore both from a backup, or put back the files that belong together',
  });
}

function altered(what: string): StoreBroken {
  return new StoreBroken({
    check: 'journal',
    says: `journal.db was changed by another program, or does not belong to vault.db: its ${what} does not fit`,
    do: 'Find out who can write to the data directory, then restore it from a backup',
  });
}
