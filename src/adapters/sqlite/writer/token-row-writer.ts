import type { TokenState } from '../../../domain/token/token-state.js';
import type { BuiltRow } from '../../../ports/generations.js';
import type { GenerationTerms, RowIndex } from '../../../ports/unit-of-work.js';
import { markOf } from '../../search-plan/mark-of.js';
import type { SqliteDatabase } from '../open-database.js';
import { rowTables, type Slot } from '../rows-schema.js';
import { packTerms, unpackTerms } from '../term-list.js';
import type { WrittenGeneration } from './generations-in.js';
import { createPostingWriter } from './posting-writer.js';

/** What a row is found by, as it stands in the row. */
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
    /** Of the row of a stream; -1 when there is none. */
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
        // Ended keys grow with every update, and whoever needs them folds the stream.
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

/** A removed token is found by nothing; one that keeps its index, by what it was found by. */
function found({ life }: TokenState, index: RowIndex, before: Found, generation: WrittenGeneration): Found {
  if (life === null) return byNothing;
  if (index === 'keep') return before;
  const terms = packTerms(termsIn(index.terms, generation.generation));
  const mark = generation.state === 'building' ? markOf(packTerms(termsIn(index.terms, generation.read)), terms) : null;
  return { fingerprint: index.fingerprintHash, seq: life.createdPosition, terms, mark };
}

function termsIn(terms: GenerationTerms, generation: number): readonly string[] {
  const own = terms[generation];
  if (own === undefined) throw new Error('a row must say what it is found by in each generation');
  return own;
}
