import type Database from 'better-sqlite3';
import type { Slot } from '#src/adapters/sqlite/database/rows-schema.js';
import {
  checked,
  entryBytes,
  isUsed,
  seqAt,
  termBytes,
  termsOfChange,
} from '#src/adapters/sqlite/search-index/entries.js';

export type StoredPosting = { readonly term: string; readonly seq: number; readonly kind: 'added' | 'removed' | 'run' };

type Change = {
  readonly number: number;
  readonly seq: number;
  readonly added: Buffer | null;
  readonly removed: Buffer | null;
};

/**
 * Returns all postings that the search index counts in one set of tables in `vault.db`. They include the postings in
 * active runs and the postings in changes that are not merged or applied yet.
 */
export function storedPostings(vault: Database.Database, slot: Slot): StoredPosting[] {
  // All reads are in one transaction, because a service may merge runs between two reads.
  return vault.transaction(() => {
    const changes = vault
      .prepare(
        `SELECT number, seq, iif(number > merged, added, NULL) AS added, iif(number > erased, removed, NULL) AS removed
         FROM index_changes_${slot}, index_state_${slot}`,
      )
      .all() as Change[];
    const blocks = vault
      .prepare(
        `SELECT entries FROM index_runs_${slot} JOIN index_segments_${slot} USING (run)
           JOIN index_blocks_${slot} ON block / 16 = segment
         WHERE state = 'read'`,
      )
      .pluck()
      .all() as Buffer[];
    return [
      ...changes.flatMap(({ number, seq, added, removed }) => [
        ...termsIn(termsOfChange(added, number, seq)).map((term) => ({ term, seq, kind: 'added' as const })),
        ...termsIn(termsOfChange(removed, number, seq)).map((term) => ({ term, seq, kind: 'removed' as const })),
      ]),
      ...blocks.flatMap((stored) => entriesIn(checked(stored, 'a block'))),
    ];
  })();
}

/** Returns the terms of a row or a change, in hex. */
export function termsIn(packed: Buffer | null): string[] {
  const terms: string[] = [];
  for (let at = 0; packed !== null && at < packed.length; at += termBytes) {
    terms.push(packed.toString('hex', at, at + termBytes));
  }
  return terms;
}

function entriesIn(block: Buffer): StoredPosting[] {
  const found: StoredPosting[] = [];
  for (let index = 0; index < block.length / entryBytes && isUsed(block, index); index += 1) {
    const at = index * entryBytes;
    found.push({ term: block.toString('hex', at, at + termBytes), seq: seqAt(block, index), kind: 'run' });
  }
  return found;
}
