import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ErasureProbe, Looked, TracedToken, TraceKind } from '../../ports/erasure-probe.js';
import type { SqliteDatabase } from './database/open-database.js';
import { reading } from './database/reading.js';
import { ofBothSlots, rowTables, type Slot, slots } from './database/rows-schema.js';

type InRow = Readonly<Record<TraceKind, number>>;
type Place = { readonly term: Buffer; readonly seq: number };

/** A number that blocks the serving thread for some milliseconds. */
const postingsAtOnce = 10_000;
const start: Place = { term: Buffer.alloc(0), seq: 0 };

/**
 * Implements `ErasureProbe` on `vault.db`. Looks in both sets of tables, including the one that is empty except during a
 * rebuild. A posting names its token by the position of the creating event, and no index leads from there to the
 * posting, so we read all postings.
 */
export function sqliteErasureProbe(database: SqliteDatabase): ErasureProbe {
  const of = ofBothSlots((slot) => statementsOf(database, slot));

  async function inPostings(slot: Slot, created: string): Promise<{ readonly looked: number; readonly found: number }> {
    const { endOfPage, upTo, rest } = of[slot];
    let [looked, found] = [0, 0];
    for (let place: Place | undefined = start; place !== undefined; ) {
      const from: Place = place;
      place = reading(() => endOfPage.get(from) as Place | undefined);
      const last = place;
      const page = reading(() =>
        last === undefined
          ? rest.get({ ...from, created })
          : upTo.get({ ...from, created, lastTerm: last.term, lastSeq: last.seq }),
      ) as { looked: number; found: number };
      looked += page.looked;
      found += page.found;
      await nextTurn();
    }
    return { looked, found };
  }

  async function inSlot(slot: Slot, { stream, created }: TracedToken): Promise<readonly Looked[]> {
    const { rows, postings } = rowTables(slot);
    const row = reading(() => of[slot].inRow.get(stream) as InRow | undefined);
    const looked = row === undefined ? 0 : 1;
    const kinds: readonly TraceKind[] = ['row', 'search_term', 'fingerprint', 'deadline'];
    return [
      ...kinds.map((kind) => ({ kind, store: rows, looked, found: row?.[kind] ?? 0 })),
      { kind: 'search_term', store: postings, ...(await inPostings(slot, JSON.stringify(created))) },
    ];
  }

  return {
    async of(token) {
      const looked: Looked[] = [];
      for (const slot of slots) looked.push(...(await inSlot(slot, token)));
      return looked;
    },
  };
}

function statementsOf(database: SqliteDatabase, slot: Slot) {
  const { rows, postings } = rowTables(slot);
  const counted = `SELECT count(*) AS looked, ifnull(sum(seq IN (SELECT value FROM json_each(@created))), 0) AS found
    FROM ${postings} WHERE (term, seq) > (@term, @seq)`;
  return {
    // The columns that a tombstone keeps are left out.
    inRow: database.prepare(
      `SELECT removed_at IS NULL OR state ->> '$.life' IS NOT NULL OR content IS NOT NULL OR cvc IS NOT NULL
           OR created_at IS NOT NULL OR modified_at IS NOT NULL AS row,
         terms IS NOT NULL OR seq IS NOT NULL OR mark IS NOT NULL AS search_term,
         fingerprint IS NOT NULL AS fingerprint,
         expires_at IS NOT NULL OR cvc_purge_at IS NOT NULL AS deadline
       FROM ${rows} WHERE stream = ?`,
    ),
    endOfPage: database.prepare(
      `SELECT term, seq FROM ${postings} WHERE (term, seq) > (@term, @seq)
       ORDER BY term, seq LIMIT 1 OFFSET ${postingsAtOnce - 1}`,
    ),
    upTo: database.prepare(`${counted} AND (term, seq) <= (@lastTerm, @lastSeq)`),
    rest: database.prepare(counted),
  };
}
