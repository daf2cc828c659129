import { type BudgetUse, type Reservation, reserveGuesses } from '../../../domain/guess-budget.js';
import { linkAfter, noLink } from '../../../events/commit.js';
import { type CommitOutcome, type StoredWrite, violating } from '../../../ports/unit-of-work.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { packHash, packStream, streamName } from '../database/packed-text.js';
import { ofBothSlots, rowTables, type Slot } from '../database/rows-schema.js';
import { createGenerationOperations, removedMax } from './generation-operations.js';
import { type PackedChange, unpackChange } from './packed-change.js';
import type { WriterOperations } from './protocol.js';
import { createRowWriter } from './row-writer.js';

/** The end of the event log: the newest position, the number of commits, and the hash chain over them. */
type LogEnd = { readonly position: number; readonly number: number; readonly link: Uint8Array };

const emptyLog: LogEnd = { position: 0, number: 0, link: noLink };

/** Creates the operations on `vault.db`. Each call must run inside a savepoint of a group's transaction. */
export function createVaultOperations(database: SqliteDatabase) {
  const rows = createRowWriter(database);
  const headOf = database.prepare('SELECT max(revision) AS revision FROM events WHERE stream = ?').pluck();
  const readSlot = database.prepare(`SELECT slot FROM generations WHERE state = 'read'`).pluck();
  const sameFingerprintIn = ofBothSlots((slot) =>
    database
      .prepare(
        `SELECT ${streamName('stream')} FROM ${rowTables(slot).rows}
       WHERE fingerprint = ? AND tenant = ? AND stream <> ? AND (expires_at IS NULL OR expires_at > ?) LIMIT ? + 0`,
      )
      .pluck(),
  );
  const newest = database.prepare(
    'SELECT position, number, hex(link) AS link FROM events ORDER BY position DESC LIMIT 1',
  );
  const insertEvent = database.prepare(
    `INSERT INTO events
       (position, stream, revision, id, type, version, tenant, actor, time, cmd, clear,
        commit_first, commit_digests, sealed_hash, mac, number, link, trace, content, cvc)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const directoryEventAfter = database.prepare(
    `SELECT 1 FROM events WHERE position > ? AND stream >= 'tenant-' AND stream < 'tenant.' LIMIT 1`,
  );
  const findClaim = database.prepare('SELECT 1 FROM claims WHERE cmd = ?');
  const insertClaim = database.prepare('INSERT INTO claims (cmd, time, result, mac) VALUES (?, ?, ?, ?)');
  const forgetClaim = database.prepare('DELETE FROM claims WHERE cmd = ?');
  const forgetClaims = database.prepare(
    `DELETE FROM claims WHERE cmd IN (SELECT cmd FROM claims WHERE time < ? ORDER BY time LIMIT ${removedMax})`,
  );
  const markKeyUsed = database.prepare(
    'UPDATE api_keys SET used_on = @minute WHERE hash = @keyHash AND (used_on IS NULL OR used_on < @minute)',
  );
  const forgetTombstonesIn = ofBothSlots((slot) =>
    database.prepare(
      `DELETE FROM ${rowTables(slot).rows} WHERE row IN (
         SELECT row FROM ${rowTables(slot).rows} WHERE removed_at < ? ORDER BY removed_at LIMIT ${removedMax})`,
    ),
  );

  function logEnd(): LogEnd {
    const last = newest.get() as (Omit<LogEnd, 'link'> & { readonly link: string }) | undefined;
    return last === undefined ? emptyLog : { ...last, link: Buffer.from(last.link, 'hex') };
  }

  function refusal(writes: readonly StoredWrite[], covers: (write: StoredWrite) => boolean): CommitOutcome | null {
    for (const [index, write] of writes.entries()) {
      const stored = packStream(write.stream);
      if ((headOf.get(stored) ?? -1) !== write.expectedRevision) return { outcome: 'conflict' };
      if (!covers(write)) return { outcome: 'conflict' };
      if (write.distinct === null) continue;
      const { fingerprintHash, tenantId, now, others } = write.distinct;
      const sameFingerprint = sameFingerprintIn[readSlot.get() as Slot];
      const found = sameFingerprint.all(
        packHash(fingerprintHash),
        tenantId,
        stored,
        now,
        others.length + 1,
      ) as string[];
      const other =
        found.find((stream) => !others.includes(stream)) ?? violating(writes.slice(0, index), write.distinct)?.stream;
      if (other !== undefined) return { outcome: 'duplicate', write: index, stream: other };
    }
    return null;
  }

  /**
   * Appends a commit to the event log after `end`, and returns the positions of its events and the new end. The
   * commit's link is stored with its last event.
   */
  function append({ stream, expectedRevision, commit: { events, leaf } }: StoredWrite, end: LogEnd) {
    const number = end.number + 1;
    const link = linkAfter(end.link, leaf);
    const packed = packStream(stream);
    const positions = events.map((event, index) => {
      const position = end.position + 1 + index;
      const { id, type, version, tenantId, actorId, time, cmd, trace, clear, sealed, proof } = event;
      const place = [position, packed, expectedRevision + 1 + index, id, type, version];
      const facts = [tenantId, actorId, time, cmd, JSON.stringify(clear)];
      const proven = [proof.first, proof.digests, proof.sealedHash, proof.mac];
      const chained = index === events.length - 1 ? [number, link] : [null, null];
      insertEvent.run(...place, ...facts, ...proven, ...chained, trace, sealed.content, sealed.cvc);
      return position;
    });
    return { positions, end: { position: end.position + events.length, number, link } };
  }

  return {
    ...createGenerationOperations(database),
    ...createBudgetOperations(database),
    ...createWebhookOperations(database),
    put_rows({ generation, rows: built }: WriterOperations['put_rows']['input']): null {
      rows.put(generation, built);
      return null;
    },
    replace_directory({ records, upTo }: WriterOperations['replace_directory']['input']): boolean {
      if (directoryEventAfter.get(upTo) !== undefined) return false;
      rows.replaceDirectory(records);
      return true;
    },
    commit(change: PackedChange): CommitOutcome {
      const { writes, claim } = unpackChange(change);
      if (claim !== null && findClaim.get(claim.cmd) !== undefined) return { outcome: 'claimed' };
      const { covers, write: writeRow } = rows.ofChange();
      const refused = refusal(writes, covers);
      if (refused !== null) return refused;
      let end = logEnd();
      for (const write of writes) {
        const appended = append(write, end);
        end = appended.end;
        writeRow(write, appended.positions);
      }
      if (claim !== null) insertClaim.run(claim.cmd, claim.time, JSON.stringify(claim.result), claim.mac);
      return { outcome: 'committed' };
    },
    forget_claim({ cmd }: WriterOperations['forget_claim']['input']): null {
      forgetClaim.run(cmd);
      return null;
    },
    forget_claims: ({ notBefore }: WriterOperations['forget_claims']['input']): boolean =>
      areNoneLeft(forgetClaims.run(notBefore)),
    forget_tombstones: ({ notBefore }: WriterOperations['forget_tombstones']['input']): boolean =>
      forgetTombstonesIn.map((statement) => areNoneLeft(statement.run(notBefore))).every(Boolean),
    mark_key_used(use: WriterOperations['mark_key_used']['input']): null {
      markKeyUsed.run(use);
      return null;
    },
  };
}

/** Returns true if a statement that changes at most `removedMax` rows has left no rows to change. */
function areNoneLeft({ changes }: { readonly changes: number }): boolean {
  return changes < removedMax;
}

type Row = Omit<BudgetUse, 'exhausted'> & { readonly exhausted: 0 | 1 };

/** Creates the operation that reserves guesses in `vault.db`. */
function createBudgetOperations(database: SqliteDatabase) {
  const find = database.prepare(
    `SELECT ends_at AS endsAt, used, hits, exhausted, suspect_at AS suspectAt FROM budgets
       WHERE name = ? AND application = ?`,
  );
  const save = database.prepare(
    `INSERT OR REPLACE INTO budgets (name, application, ends_at, used, hits, exhausted, suspect_at)
       VALUES (@name, @applicationId, @endsAt, @used, @hits, @exhausted, @suspectAt)`,
  );
  return {
    reserve_guesses({
      name,
      applicationId,
      budget,
      request,
    }: WriterOperations['reserve_guesses']['input']): Reservation {
      const row = find.get(name, applicationId) as Row | undefined;
      const stored = row === undefined ? null : { ...row, exhausted: row.exhausted === 1 };
      const { after, reservation } = reserveGuesses(stored, budget, request);
      save.run({ name, applicationId, ...after, exhausted: after.exhausted ? 1 : 0 });
      return reservation;
    },
  };
}

/** Creates the operations that store webhook progress in `vault.db`. */
function createWebhookOperations(database: SqliteDatabase) {
  const insert = database.prepare('INSERT OR IGNORE INTO webhook_states (webhook, version, state) VALUES (?, 1, ?)');
  const update = database.prepare(
    'UPDATE webhook_states SET version = version + 1, state = ? WHERE webhook = ? AND version = ?',
  );
  const removeState = database.prepare('DELETE FROM webhook_states WHERE webhook = ?');
  const removeIds = database.prepare(
    `DELETE FROM webhook_ids WHERE (webhook, event) IN (
       SELECT webhook, event FROM webhook_ids WHERE webhook = ? ORDER BY event LIMIT ${removedMax})`,
  );
  const removeId = database.prepare('DELETE FROM webhook_ids WHERE webhook = ? AND event = ?');
  const keepId = database.prepare('INSERT INTO webhook_ids (webhook, event, sealed, at) VALUES (?, ?, ?, ?)');
  // The time of an emptied id is negative. The index therefore finds the ids that are left without a search through
  // the emptied ones, which stay for months.
  const emptyIds = database.prepare(
    `UPDATE webhook_ids SET sealed = x'', at = -at WHERE (webhook, event) IN (
       SELECT webhook, event FROM webhook_ids WHERE at > 0 AND at < ? ORDER BY at LIMIT ${removedMax})`,
  );
  const forgetIds = database.prepare(
    `DELETE FROM webhook_ids WHERE (webhook, event) IN (
       SELECT webhook, event FROM webhook_ids WHERE at > -? AND at < 0 ORDER BY at LIMIT ${removedMax})`,
  );
  return {
    save_webhook({ webhookId, version, text, delivered }: WriterOperations['save_webhook']['input']): boolean {
      const { changes } = version === 0 ? insert.run(webhookId, text) : update.run(text, webhookId, version);
      if (changes === 0) return false;
      for (const eventId of delivered) removeId.run(webhookId, eventId);
      return true;
    },
    remove_webhook({ webhookId }: WriterOperations['remove_webhook']['input']): boolean {
      removeState.run(webhookId);
      return areNoneLeft(removeIds.run(webhookId));
    },
    keep_webhook_ids(ids: WriterOperations['keep_webhook_ids']['input']): null {
      for (const { webhookId, eventId, sealed, at } of ids) keepId.run(webhookId, eventId, sealed, at);
      return null;
    },
    forget_webhook_ids({ notBefore, markedBefore }: WriterOperations['forget_webhook_ids']['input']): boolean {
      const areEmptied = areNoneLeft(emptyIds.run(notBefore));
      return areNoneLeft(forgetIds.run(markedBefore)) && areEmptied;
    },
  };
}
