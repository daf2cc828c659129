import type { TokenState } from '../../../domain/token/token-state.js';
import type { DirectoryRecord } from '../../../ports/directory.js';
import type { RowIndex, StreamWrite } from '../../../ports/unit-of-work.js';
import type { TokenView } from '../../../projections/token-view.js';
import type { SqliteDatabase } from '../open-database.js';

/** Writes the rows that events lead to, inside the transaction that appends the events. */
export function createRowWriter(database: SqliteDatabase) {
  const upsertToken = database.prepare(
    `INSERT INTO token_rows (stream, tenant, state, content, cvc, fingerprint, expires_at, cvc_purge_at, removed_at)
     VALUES (@stream, @tenant, @state, @content, @cvc, @fingerprint, @expiresAt, @cvcPurgeAt, @removedAt)
     ON CONFLICT (stream) DO UPDATE SET state = excluded.state, content = excluded.content, cvc = excluded.cvc,
       fingerprint = iif(@keep AND excluded.removed_at IS NULL, fingerprint, excluded.fingerprint), expires_at = excluded.expires_at, cvc_purge_at = excluded.cvc_purge_at,
       removed_at = excluded.removed_at`,
  );
  const upsertDirectory = database.prepare(
    `INSERT INTO directory (stream, kind, id, tenant, revision, content_revision, content, removed_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision, content_revision = excluded.content_revision,
       content = excluded.content, removed_at = excluded.removed_at`,
  );
  const dropApiKeys = database.prepare('DELETE FROM api_keys WHERE stream = ?');
  const addApiKey = database.prepare('INSERT INTO api_keys (hash, stream) VALUES (?, ?)');

  function writeToken(view: TokenView, index: RowIndex, removedAt: number): void {
    const { life } = view.state;
    upsertToken.run({
      stream: view.stream,
      tenant: view.tenantId,
      state: JSON.stringify(view.state),
      content: view.content,
      cvc: view.cvc,
      keep: index === 'keep' ? 1 : 0,
      fingerprint: life === null || index === 'keep' ? null : index.fingerprintHash,
      expiresAt: life?.expiresAt ?? null,
      cvcPurgeAt: life?.cvc?.purgeAt ?? null,
      removedAt: life === null ? removedAt : null,
    });
  }

  function writeDirectory(record: DirectoryRecord): void {
    const { stream, kind, id, tenantId, revision, contentRevision, content, removedAt } = record;
    upsertDirectory.run(stream, kind, id, tenantId, revision, contentRevision, content, removedAt);
    dropApiKeys.run(stream);
    for (const hash of record.keyHashes) addApiKey.run(hash, stream);
  }

  return {
    write({ row, events, expectedRevision }: StreamWrite, positions: readonly number[]): void {
      if (row?.of === 'directory') writeDirectory(row.record);
      if (row?.of !== 'token') return;
      const state = withCreatedPosition(row.view.state, expectedRevision, positions);
      writeToken({ ...row.view, state }, row.index, events.at(-1)?.time ?? 0);
    },
  };
}

/** The place of a life that begins in this very append is known only now. */
function withCreatedPosition(state: TokenState, expectedRevision: number, positions: readonly number[]): TokenState {
  const createdPosition = positions[(state.life?.createdRevision ?? -1) - expectedRevision - 1];
  if (state.life === null || createdPosition === undefined) return state;
  return { ...state, life: { ...state.life, createdPosition } };
}
