import type { TokenState } from '../../../domain/token/token-state.js';
import type { BuiltRow } from '../../../ports/generations.js';
import type { GenerationTerms, RowIndex } from '../../../ports/unit-of-work.js';
import { termsDigest } from '../../search-plan/mark-of.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { rowTables, type Slot } from '../database/rows-schema.js';
import { keptCountMin } from '../database/term-counts.js';
import type { WrittenGeneration } from './generations-in.js';

/** The search terms of a row, as stored in the row. */
type Found = {
  readonly fingerprint: string | null;
  readonly seq: number | null;
  readonly terms: Buffer | null;
  readonly mark: Buffer | null;
};

const byNothing: Found = { fingerprint: null, seq: null, terms: null, mark: null };

/** Writes the rows of tokens and their postings into one set of tables. */
export function createTokenRowWriter(database: SqliteDatabase, slot: Slot) {
  const { rows } = rowTables(slot);
  const postings = createPostingWriter(database, slot);
  const findIndex = database.prepare(`SELECT fingerprint, seq, terms, mark FROM ${rows} WHERE stream = ?`);
  const findRevision = database.prepare(`SELECT revision FROM ${rows} WHERE stream = ?`).pluck();
  const upsert = database.prepare(
    `INSERT INTO ${rows} (stream, tenant, revision, state, content, cvc, mac, fingerprint, seq, terms, mark, created_at,
       modified_at, expires_at, cvc_purge_at, removed_at)
     VALUES (@stream, @tenant, @revision, @state, @content, @cvc, @mac, @fingerprint, @seq, @terms, @mark, @createdAt,
       @modifiedAt, @expiresAt, @cvcPurgeAt, @removedAt)
     ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision, state = excluded.state,
       content = excluded.content, cvc = excluded.cvc, mac = excluded.mac, fingerprint = excluded.fingerprint, seq = excluded.seq,
       terms = excluded.terms, mark = excluded.mark, created_at = excluded.created_at,
       modified_at = excluded.modified_at, expires_at = excluded.expires_at, cvc_purge_at = excluded.cvc_purge_at,
       removed_at = excluded.removed_at`,
  );

  return {
    /** Returns the revision of the row of a stream, or -1 if there is none. */
    revisionOf: (stream: string): number => Number(findRevision.get(stream) ?? -1),
    write({ view, index, at }: BuiltRow, generation: WrittenGeneration): void {
      const { state } = view;
      const { life } = state;
      const before = (findIndex.get(view.stream) as Found | undefined) ?? byNothing;
      const after = found(state, index, before, generation);
      upsert.run({
        stream: view.stream,
        tenant: view.tenantId,
        revision: state.revision,
        // Ended keys grow with each update, and their readers fold the stream.
        state: JSON.stringify({ ...state, ended: [] }),
        content: view.content,
        cvc: view.cvc,
        mac: view.mac,
        ...after,
        createdAt: life?.createdAt ?? null,
        modifiedAt: life?.modifiedAt ?? null,
        expiresAt: life?.expiresAt ?? null,
        cvcPurgeAt: life?.cvc?.purgeAt ?? null,
        removedAt: life === null ? at : null,
      });
      if (after === before) return;
      postings.replace(
        { seq: before.seq, terms: unpackTerms(before.terms) },
        { seq: after.seq, terms: unpackTerms(after.terms) },
      );
    },
  };
}

/** Returns the search terms of a row. A removed token has none, and a row that keeps its index keeps its terms. */
function found({ life }: TokenState, index: RowIndex, before: Found, generation: WrittenGeneration): Found {
  if (life === null) return byNothing;
  if (index === 'keep') return before;
  const terms = packTerms(termsIn(index.terms, generation.generation));
  const mark =
    generation.state === 'building' ? termsDigest(packTerms(termsIn(index.terms, generation.read)), terms) : null;
  return { fingerprint: index.fingerprintHash, seq: life.createdPosition, terms, mark };
}

function termsIn(terms: GenerationTerms, generation: number): readonly string[] {
  const own = terms[generation];
  if (own === undefined) throw new Error('a row must have its index entries for each generation');
  return own;
}

/** The search index of a row: the position of the event that created it, and its distinct terms. */
type Postings = { readonly seq: number | null; readonly terms: readonly Buffer[] };

/** Updates postings and term counts inside the transaction that writes the row. */
function createPostingWriter(database: SqliteDatabase, slot: Slot) {
  const { postings, termCounts } = rowTables(slot);
  const insert = database.prepare(`INSERT INTO ${postings} (term, seq) VALUES (?, ?)`);
  const remove = database.prepare(`DELETE FROM ${postings} WHERE term = ? AND seq = ?`);
  const countUp = database.prepare(`UPDATE ${termCounts} SET count = count + 1 WHERE term = ?`);
  const isCommon = database.prepare(`SELECT 1 FROM ${postings} WHERE term = ? LIMIT 1 OFFSET ${keptCountMin - 1}`);
  const keepCount = database.prepare(
    `INSERT INTO ${termCounts} (term, count) SELECT term, count(*) FROM ${postings} WHERE term = ?`,
  );
  const countDown = database.prepare(`UPDATE ${termCounts} SET count = count - 1 WHERE term = ?`);
  const dropCount = database.prepare(`DELETE FROM ${termCounts} WHERE term = ? AND count = 0`);

  function add(term: Buffer, seq: number): void {
    insert.run(term, seq);
    if (countUp.run(term).changes === 0 && isCommon.get(term) !== undefined) keepCount.run(term);
  }

  function take(term: Buffer, seq: number): void {
    remove.run(term, seq);
    countDown.run(term);
    dropCount.run(term);
  }

  return {
    /**
     * Replaces the search index of a row. Another `seq` means a recreated token, which shares no terms with the last
     * one.
     */
    replace(before: Postings, after: Postings): void {
      const had = before.seq === null ? [] : before.terms;
      const has = after.seq === null ? [] : after.terms;
      const goesOn = before.seq === after.seq;
      for (const term of goesOn ? without(had, has) : had) take(term, Number(before.seq));
      for (const term of goesOn ? without(has, had) : has) add(term, Number(after.seq));
    },
  };
}

function without(terms: readonly Buffer[], others: readonly Buffer[]): readonly Buffer[] {
  const left = new Set(others.map((term) => term.toString('hex')));
  return terms.filter((term) => !left.has(term.toString('hex')));
}

const termBytes = 16;

/** Converts terms from hex to the concatenated bytes that a row stores. */
function packTerms(terms: readonly string[]): Buffer {
  return Buffer.from(terms.join(''), 'hex');
}

/** Converts each term to the bytes of its posting. */
function unpackTerms(packed: Buffer | null): readonly Buffer[] {
  if (packed === null) return [];
  return Array.from({ length: packed.length / termBytes }, (_, i) =>
    packed.subarray(i * termBytes, (i + 1) * termBytes),
  );
}
