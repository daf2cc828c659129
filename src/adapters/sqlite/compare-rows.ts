import type { ComparedPage, ComparedStreams, TwoGenerations } from '../../ports/rebuild-thread.js';
import { termsDigest } from '../shared/terms-digest.js';
import type { SqliteDatabase } from './database/open-database.js';
import { holdsTokenStream, packedStreams, packStream, streamName } from './database/packed-text.js';
import { reading } from './database/reading.js';
import { ofBothSlots, rowTables, type Slot } from './database/rows-schema.js';

type Row = {
  readonly stream: string;
  readonly tenant: string;
  readonly revision: number;
  readonly type: string | null;
  readonly life: string | null;
  readonly content_at: number | null;
  readonly cvc_at: number | null;
  readonly mac: string;
  readonly fingerprint: string;
  readonly seq: number | null;
  readonly terms: Buffer | null;
  readonly created_at: number | null;
  readonly modified_at: number | null;
  readonly expires_at: number | null;
  readonly cvc_purge_at: number | null;
  readonly mark: Buffer | null;
};

// `quote` returns different text for bytes and for text.
const columns = `${streamName('stream')} AS stream, tenant, revision, type, life, content_at, cvc_at, quote(mac) AS mac,
  quote(fingerprint) AS fingerprint, seq, terms, created_at, modified_at, expires_at, cvc_purge_at, mark`;

const ofLivingTenants = `removed_at IS NULL AND tenant NOT IN
  (SELECT id FROM directory WHERE kind = 'tenant' AND removed_at IS NOT NULL)`;

/**
 * Compares the live rows of two generations in one read transaction. Each generation hashes its search terms under a
 * different key, so the terms themselves cannot be compared. Instead, each row of the new generation has a mark, which
 * is a hash of the row's terms in both generations, and the comparison checks this mark.
 */
export function createRowComparison(database: SqliteDatabase) {
  const slotOf = database.prepare('SELECT slot FROM generations WHERE generation = ?').pluck();
  const [one, other] = ofBothSlots((slot) => rowTables(slot).rows);
  const streamsAfter = database
    .prepare(
      `SELECT ${streamName('stream')} FROM (
         SELECT stream FROM ${one} WHERE stream > @after AND ${holdsTokenStream('stream')}
         UNION SELECT stream FROM ${other} WHERE stream > @after AND ${holdsTokenStream('stream')}
         ORDER BY 1 LIMIT @limit + 0)`,
    )
    .pluck();
  const rowsOf = ofBothSlots((slot) =>
    database.prepare(
      `SELECT ${columns} FROM ${rowTables(slot).rows} WHERE stream IN (${packedStreams}) AND ${ofLivingTenants}`,
    ),
  );

  function nextStreams({ after, limit }: { readonly after: string; readonly limit: number }): readonly string[] {
    return streamsAfter.all({ after: packStream(after), limit }) as string[];
  }

  function compare({ from, generation }: TwoGenerations, which: ComparedStreams): ComparedPage {
    const slots = [slotOf.get(from), slotOf.get(generation)] as (Slot | undefined)[];
    const [readSlot, madeSlot] = slots;
    if (readSlot === undefined || madeSlot === undefined) return { rows: 0, different: [], last: null };
    const streams = 'streams' in which ? which.streams : nextStreams(which);
    const list = JSON.stringify(streams);
    const read = byStream(rowsOf[readSlot].all(list) as Row[]);
    const made = byStream(rowsOf[madeSlot].all(list) as Row[]);
    const different = streams.filter((stream) => !isSame(read.get(stream), made.get(stream)));
    const isFull = 'limit' in which && streams.length === which.limit;
    return { rows: read.size, different, last: isFull ? (streams.at(-1) ?? null) : null };
  }

  const compareAtOnce = database.transaction(compare);
  return (generations: TwoGenerations, which: ComparedStreams): ComparedPage =>
    reading(() => compareAtOnce(generations, which));
}

function byStream(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row.stream, row]));
}

function isSame(read: Row | undefined, made: Row | undefined): boolean {
  if (read === undefined || made === undefined) return read === made;
  return (
    facts.every((name) => read[name] === made[name]) && isSameBytes(termsDigest(read.terms, made.terms), made.mark)
  );
}

/** The ciphertexts are not compared, because both rows refer to the same events. */
const facts = [
  'tenant',
  'revision',
  'type',
  'life',
  'content_at',
  'cvc_at',
  'mac',
  'fingerprint',
  'seq',
  'created_at',
  'modified_at',
  'expires_at',
  'cvc_purge_at',
] as const;

function isSameBytes(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}
