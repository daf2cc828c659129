import type { TokenState } from '../../../domain/token/token-state.js';
import type { DirectoryRecord } from '../../../ports/directory.js';
import type { RowIndex, StreamWrite } from '../../../ports/unit-of-work.js';
import { type TokenView, withCreatedPosition } from '../../../projections/token-view.js';
import type { SqliteDatabase } from '../open-database.js';
import { packTerms, unpackTerms } from '../term-list.js';
import { createPostingWriter } from './posting-writer.js';

/** What a row is found by, as it stands in the row. */
type Found = { readonly fingerprint: string | null; readonly seq: number | null; readonly terms: Buffer | null };

const byNothing: Found = { fingerprint: null, seq: null, terms: null };

/** Writes the rows that events lead to, inside the transaction that appends the events. */
export function createRowWriter(database: SqliteDatabase) {
  const postings = createPostingWriter(database);
  const findIndex = database.prepare('SELECT fingerprint, seq, terms FROM token_rows WHERE stream = ?');
  const upsertToken = database.prepare(
    `INSERT INTO token_rows (stream, tenant, state, content, cvc, fingerprint, seq, terms, created_at, modified_at,
       expires_at, cvc_purge_at, removed_at)
     VALUES (@stream, @tenant, @state, @content, @cvc, @fingerprint, @seq, @terms, @createdAt, @modifiedAt,
       @expiresAt, @cvcPurgeAt, @removedAt)
     ON CONFLICT (stream) DO UPDATE SET state = excluded.state, content = excluded.content, cvc = excluded.cvc,
       fingerprint = excluded.fingerprint, seq = excluded.seq, terms = excluded.terms,
       created_at = excluded.created_at, modified_at = excluded.modified_at, expires_at = excluded.expires_at,
       cvc_purge_at = excluded.cvc_purge_at, removed_at = excluded.removed_at`,
  );
  const upsertDirectory = database.prepare(
    `INSERT INTO directory (kind, id, tenant, application_type, revision, created_revision, content_revision, content,
       removed_at)
     VALUES (@kind, @id, @tenantId, @applicationType, @revision, @createdRevision, @contentRevision, @content, @removedAt)
     ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, content_revision = excluded.content_revision,
       content = excluded.content, removed_at = excluded.removed_at`,
  );
  const dropApiKeys = database.prepare(
    'DELETE FROM api_keys WHERE application = ? AND hash NOT IN (SELECT value FROM json_each(?))',
  );
  // A key that is there keeps the day of its last use.
  const addApiKey = database.prepare(
    'INSERT INTO api_keys (hash, id, application) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING',
  );

  function writeToken(view: TokenView, index: RowIndex, removedAt: number): void {
    const { life } = view.state;
    const before = (findIndex.get(view.stream) as Found | undefined) ?? byNothing;
    const after = found(view.state, index, before);
    upsertToken.run({
      stream: view.stream,
      tenant: view.tenantId,
      // Ended keys grow with every update, and whoever needs them folds the stream.
      state: JSON.stringify({ ...view.state, ended: [] }),
      content: view.content,
      cvc: view.cvc,
      ...after,
      createdAt: life?.createdAt ?? null,
      modifiedAt: life?.modifiedAt ?? null,
      expiresAt: life?.expiresAt ?? null,
      cvcPurgeAt: life?.cvc?.purgeAt ?? null,
      removedAt: life === null ? removedAt : null,
    });
    if (after === before) return;
    postings.replace(
      { seq: before.seq, terms: unpackTerms(before.terms) },
      { seq: after.seq, terms: unpackTerms(after.terms) },
    );
  }

  function writeDirectory(record: DirectoryRecord): void {
    const { keys, ...row } = record;
    upsertDirectory.run(row);
    if (record.kind === 'tenant') return;
    dropApiKeys.run(record.id, JSON.stringify(keys.map(({ hash }) => hash)));
    for (const { id, hash } of keys) addApiKey.run(hash, id, record.id);
  }

  return {
    write({ row, events, expectedRevision }: StreamWrite, positions: readonly number[]): void {
      if (row?.of === 'directory') for (const record of row.records) writeDirectory(record);
      if (row?.of !== 'token') return;
      const state = withCreatedPosition(row.view.state, expectedRevision, positions);
      writeToken({ ...row.view, state }, row.index, events.at(-1)?.time ?? 0);
    },
  };
}

/** A removed token is found by nothing; one that keeps its index, by what it was found by. */
function found({ life }: TokenState, index: RowIndex, before: Found): Found {
  if (life === null) return byNothing;
  if (index === 'keep') return before;
  return { fingerprint: index.fingerprintHash, seq: life.createdPosition, terms: packTerms(index.terms) };
}
