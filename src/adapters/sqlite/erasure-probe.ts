import { setTimeout as wait } from 'node:timers/promises';
import type { DerivedKind, ErasedToken, ErasureProbe, Looked } from '../../ports/erasure-probe.js';
import type { SqliteDatabase } from './database/open-database.js';
import { packStream } from './database/packed-text.js';
import { pagesAfter } from './database/pages.js';
import { reading } from './database/reading.js';
import { ofBothSlots, rowTables, type Slot, slots } from './database/rows-schema.js';
import { checked, entriesOfBlock, isUsed, seqAt, termBytes } from './search-index/entries.js';
import { blockName, indexStatements } from './search-index/index-statements.js';
import type { Writer } from './writer/writer.js';

type InRow = Readonly<Record<DerivedKind, number>>;
type InStore = { readonly looked: number; readonly found: number };
type BlockRow = { readonly block: number; readonly entries: Buffer };

/**
 * The number of blocks read in one query. Reading this many blocks takes a few milliseconds, during which the thread
 * serves no requests.
 */
const blocksAtOnce = 100;
const changesAtOnce = 500;
/** How long to wait before asking again whether the writer has erased the removed postings, in ms. */
const pollMs = 5;

/**
 * Implements `ErasureProbe` on `vault.db`. Searches both sets of tables, although one of them is empty except during a
 * rebuild. Before the probe searches, the writer erases removed postings from the search index. A posting identifies
 * its token by the position of the event that created the token, and there is no index on this position. The probe
 * therefore reads all changes and all blocks, even blocks of runs that searches do not use.
 */
export function sqliteErasureProbe(database: SqliteDatabase, writer: Writer): ErasureProbe {
  const of = ofBothSlots((slot) => statementsOf(database, slot));

  async function eraseRemoved(): Promise<void> {
    const upTo = slots.map((slot) => reading(() => of[slot].index.state().last));
    while (!(await writer.request('erase_postings', upTo))) await wait(pollMs);
  }

  async function inChanges(slot: Slot, created: ReadonlySet<number>): Promise<InStore> {
    let [looked, found] = [0, 0];
    const changesAfter = (number: number) => reading(() => of[slot].index.changesAfter(number, changesAtOnce));
    for await (const page of pagesAfter(0, changesAfter, ({ number }) => number)) {
      for (const { seq, added, removed } of page) {
        const postings = ((added?.length ?? 0) + (removed?.length ?? 0)) / termBytes;
        looked += postings;
        if (created.has(seq)) found += postings;
      }
    }
    return { looked, found };
  }

  async function inBlocks(slot: Slot, created: ReadonlySet<number>): Promise<InStore> {
    let [looked, found] = [0, 0];
    const blocksAfter = (block: number) => reading(() => of[slot].blocksAfter.all(block, blocksAtOnce) as BlockRow[]);
    for await (const page of pagesAfter(-1, blocksAfter, ({ block }) => block)) {
      for (const { block: number, entries } of page) {
        const block = checked(entries, blockName(number));
        for (let index = 0; index < entriesOfBlock && isUsed(block, index); index += 1) {
          looked += 1;
          if (created.has(seqAt(block, index))) found += 1;
        }
      }
    }
    return { looked, found };
  }

  async function inSlot(slot: Slot, { stream, created }: ErasedToken): Promise<readonly Looked[]> {
    const { rows, changes, blocks } = rowTables(slot);
    const row = reading(() => of[slot].inRow.get(packStream(stream)) as InRow | undefined);
    const looked = row === undefined ? 0 : 1;
    const kinds: readonly DerivedKind[] = ['row', 'search_term', 'fingerprint', 'deadline'];
    const seqs = new Set(created);
    return [
      ...kinds.map((kind) => ({ kind, store: rows, looked, found: row?.[kind] ?? 0 })),
      { kind: 'search_term', store: changes, ...(await inChanges(slot, seqs)) },
      { kind: 'search_term', store: blocks, ...(await inBlocks(slot, seqs)) },
    ];
  }

  return {
    async of(token) {
      await eraseRemoved();
      const looked: Looked[] = [];
      for (const slot of slots) looked.push(...(await inSlot(slot, token)));
      return looked;
    },
  };
}

function statementsOf(database: SqliteDatabase, slot: Slot) {
  const { rows, blocks } = rowTables(slot);
  return {
    index: indexStatements(database, slot),
    blocksAfter: database.prepare(`SELECT block, entries FROM ${blocks} WHERE block > ? ORDER BY block LIMIT ? + 0`),
    // Checks only the columns that must be empty after a token has ended. A tombstone still has values in the other
    // columns.
    inRow: database.prepare(
      `SELECT removed_at IS NULL OR type IS NOT NULL OR life IS NOT NULL OR content_at IS NOT NULL OR cvc_at IS NOT NULL
           OR created_at IS NOT NULL OR modified_at IS NOT NULL AS row,
         terms IS NOT NULL OR seq IS NOT NULL OR mark IS NOT NULL AS search_term,
         fingerprint IS NOT NULL AS fingerprint,
         expires_at IS NOT NULL OR cvc_purge_at IS NOT NULL AS deadline
       FROM ${rows} WHERE stream = ?`,
    ),
  };
}
