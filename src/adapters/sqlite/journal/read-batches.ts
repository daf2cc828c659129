import { batchHash } from '../../../events/access-log/batch-hash.js';
import type { SqliteDatabase } from '../database/open-database.js';
import type { JournalBatch } from './journal.js';

/**
 * Returns a function that reads the oldest batch after a sequence number. The function returns null if the journal has
 * no such batch.
 */
export function nextBatch(journal: SqliteDatabase): (afterSequence: number) => JournalBatch | null {
  const next = journal.prepare(
    'SELECT sequence, previous, hash, lines FROM batches WHERE sequence > ? ORDER BY sequence LIMIT 1',
  );
  return (afterSequence) => (next.get(afterSequence) as JournalBatch | undefined) ?? null;
}

/** Returns true if a batch's hash matches its lines. */
export function isWhole({ previous, sequence, hash, lines }: JournalBatch): boolean {
  return batchHash(previous, sequence, [lines]).equals(hash);
}
