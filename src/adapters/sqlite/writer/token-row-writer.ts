import type { TokenState } from '../../../domain/token/token-state.js';
import type { BuiltRow } from '../../../ports/generations.js';
import type { GenerationTerms, RowIndex } from '../../../ports/unit-of-work.js';
import { termsDigest } from '../../shared/terms-digest.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { type Packed, packHash, packStream } from '../database/packed-text.js';
import { rowTables, type Slot } from '../database/rows-schema.js';
import { lifeText } from '../database/token-row.js';
import { changeOf, termBytes } from '../search-index/entries.js';

/** A generation that is updated whenever a token row is written. */
export type WrittenGeneration = {
  readonly generation: number;
  readonly slot: Slot;
  readonly state: 'read' | 'building' | 'left';
  /** The number of the generation used for reads. */
  readonly read: number;
};

/** The columns that searches and fingerprint lookups use to find a row. */
type Found = {
  readonly fingerprint: Packed | null;
  readonly seq: number | null;
  readonly terms: Buffer | null;
  readonly mark: Buffer | null;
};

/** A subquery that returns the position of the event at a revision of a stream. Returns NULL if no event is there. */
const positionOf = '(SELECT position FROM events WHERE stream = ? AND revision = ?)';

const byNothing: Found = { fingerprint: null, seq: null, terms: null, mark: null };

/**
 * Creates the functions that write to one set of tables: the token rows, and the resulting changes to the search index.
 */
export function createTokenRowWriter(database: SqliteDatabase, slot: Slot) {
  const { rows } = rowTables(slot);
  const changes = createChangeWriter(database, slot);
  const findIndex = database.prepare(`SELECT fingerprint, seq, terms, mark FROM ${rows} WHERE stream = ?`);
  const findRevision = database.prepare(`SELECT revision FROM ${rows} WHERE stream = ?`).pluck();
  const upsert = database.prepare(
    `INSERT INTO ${rows} (stream, tenant, revision, type, life, content_at, cvc_at, mac, fingerprint, seq, terms, mark,
       created_at, modified_at, expires_at, cvc_purge_at, removed_at)
     VALUES (?, ?, ?, ?, ?, ${positionOf}, ${positionOf}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision, type = excluded.type, life = excluded.life,
       content_at = excluded.content_at, cvc_at = excluded.cvc_at, mac = excluded.mac,
       fingerprint = excluded.fingerprint, seq = excluded.seq, terms = excluded.terms, mark = excluded.mark,
       created_at = excluded.created_at, modified_at = excluded.modified_at, expires_at = excluded.expires_at,
       cvc_purge_at = excluded.cvc_purge_at, removed_at = excluded.removed_at`,
  );

  return {
    /** Returns the revision of the row for a stream, or -1 if the stream has no row. */
    revisionOf: (stream: string): number => Number(findRevision.get(packStream(stream)) ?? -1),
    /** Writes a row to a generation. `isNew` means that the stream has no row yet. */
    write({ view, index, at }: BuiltRow, generation: WrittenGeneration, isNew: boolean): void {
      const { state } = view;
      const { life } = state;
      const stream = packStream(view.stream);
      const before = isNew ? byNothing : ((findIndex.get(stream) as Found | undefined) ?? byNothing);
      const after = found(state, index, before, generation);
      // Does not store the list of ended keys, because the list grows with each update. Code that needs the list folds
      // the stream.
      const facts = life === null ? [null, null] : [life.tokenType, lifeText(life)];
      const row = [stream, view.tenantId, state.revision, ...facts];
      const ciphertexts = [stream, life?.contentRevision ?? null, stream, life?.cvc?.revision ?? null];
      const search = [after.fingerprint, after.seq, after.terms, after.mark];
      const times = [life?.createdAt, life?.modifiedAt, life?.expiresAt, life?.cvc?.purgeAt];
      upsert.run(
        ...row,
        ...ciphertexts,
        view.mac,
        ...search,
        ...times.map((time) => time ?? null),
        life === null ? at : null,
      );
      if (after === before) return;
      changes.replace(before, after);
    },
  };
}

/**
 * Returns the search columns of a row. All of them are empty if the token is gone. If `index` is `keep`, returns the
 * columns that the row had before.
 */
function found({ life }: TokenState, index: RowIndex, before: Found, generation: WrittenGeneration): Found {
  if (life === null) return byNothing;
  if (index === 'keep') return before;
  const terms = packTerms(termsIn(index.terms, generation.generation));
  const mark =
    generation.state === 'building' ? termsDigest(packTerms(termsIn(index.terms, generation.read)), terms) : null;
  return { fingerprint: packHash(index.fingerprintHash), seq: life.createdPosition, terms, mark };
}

function termsIn(terms: GenerationTerms, generation: number): readonly string[] {
  const own = terms[generation];
  if (own === undefined) throw new Error('a row must have its index entries for each generation');
  return own;
}

/**
 * Creates the function that records which terms a row has gained and lost. It must be called in the transaction that
 * writes the row.
 */
function createChangeWriter(database: SqliteDatabase, slot: Slot) {
  const { changes, indexState } = rowTables(slot);
  const insert = database.prepare(
    `INSERT INTO ${changes} (number, seq, added, removed) VALUES (
       @postings + max((SELECT merged FROM ${indexState}), ifnull((SELECT max(number) FROM ${changes}), 0)),
       @seq, @added, @removed)`,
  );

  function note(seq: number, added: Buffer, removed: Buffer): void {
    const postings = (added.length + removed.length) / termBytes;
    if (postings === 0) return;
    insert.run({
      postings,
      seq,
      added: changeOf(added, seq),
      removed: changeOf(removed, seq),
    });
  }

  return {
    /**
     * Records the difference between two versions of a row. If their `seq` differs, the token was created again. The
     * token's new life shares no postings with its previous life.
     */
    replace(before: Found, after: Found): void {
      const had = before.terms ?? noTerms;
      const has = after.terms ?? noTerms;
      if (before.seq !== null && before.seq === after.seq) {
        note(after.seq, without(has, had), without(had, has));
        return;
      }
      if (before.seq !== null) note(before.seq, noTerms, had);
      if (after.seq !== null) note(after.seq, has, noTerms);
    },
  };
}

const noTerms = Buffer.alloc(0);

/** Returns the terms in `terms` that are not in `others`. Both buffers contain concatenated terms. */
function without(terms: Buffer, others: Buffer): Buffer {
  const left = new Set(unpackTerms(others).map((term) => term.toString('latin1')));
  return Buffer.concat(unpackTerms(terms).filter((term) => !left.has(term.toString('latin1'))));
}

/** Converts terms from hex to bytes and concatenates them. A row stores its terms in this form. */
function packTerms(terms: readonly string[]): Buffer {
  return Buffer.from(terms.join(''), 'hex');
}

function unpackTerms(packed: Buffer): readonly Buffer[] {
  return Array.from({ length: packed.length / termBytes }, (_, i) =>
    packed.subarray(i * termBytes, (i + 1) * termBytes),
  );
}
