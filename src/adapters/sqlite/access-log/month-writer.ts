import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AccessEntry } from '../../../events/access-log/access-entry.js';
import { batchHash } from '../../../events/access-log/batch-hash.js';
import { batchesOf } from '../../access-log/batches-of.js';
import type { Month } from '../../access-log/month.js';
import { prepareFile } from '../prepare-file.js';
import { createGroupCommit } from '../writer/group-commit.js';
import { accessSchema, accessSchemaVersion } from './access-schema.js';
import { fileIdentity, monthFile } from './month-files.js';
import { createWords } from './words.js';

/** The end of the chain: what the next batch is linked to. */
export type ChainHead = { readonly sequence: number; readonly hash: Uint8Array };

export type MonthWriter = ReturnType<typeof openMonthWriter>;

/** Opens one month's file for appending and makes it when it is not there. */
export function openMonthWriter(dataDir: string, month: Month) {
  const fileName = monthFile(month);
  const path = join(dataDir, fileName);
  const prepare = (at: string) => prepareFile(at, fileName, accessSchema, accessSchemaVersion, 'unchecked');
  if (fileIdentity(dataDir, month) === null) {
    // Made under another name: who reads finds it whole, or not yet.
    prepare(`${path}.new`).close();
    // What was left of a file that was taken away would be read as the log of this one.
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    renameSync(`${path}.new`, path);
  }
  const database = prepare(path);
  const identity = fileIdentity(dataDir, month);
  const commit = createGroupCommit(database, 'access log');
  const words = createWords(database);
  const insertBatch = database.prepare('INSERT INTO batches (sequence, previous, hash) VALUES (?, ?, ?)');
  const insertEntry = database.prepare(
    `INSERT INTO entries (batch, tenant, time, actor, actor_type, key, source, entity_type, ref, entity, operation,
       outcome, message, trace, trace_stream, trace_revision)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  function insert(batch: number, entry: AccessEntry): void {
    const { idOf, idOrNull } = words;
    const { entityRef, trace, tracePlace } = entry;
    insertEntry.run(
      batch,
      idOf(entry.tenantId),
      entry.time,
      idOf(entry.actorId),
      idOf(entry.actorType),
      idOrNull(entry.keyId),
      idOrNull(entry.sourceAddress),
      idOf(entry.entityType),
      entityRef === null ? null : Buffer.from(entityRef, 'hex'),
      idOrNull(entry.entityId),
      idOf(entry.operation),
      idOf(entry.outcome),
      idOf(entry.message),
      trace,
      tracePlace?.stream ?? null,
      tracePlace?.revision ?? null,
    );
  }

  function insertAll(entries: readonly AccessEntry[], head: ChainHead): ChainHead {
    let { sequence, hash } = head;
    for (const batch of batchesOf(entries)) {
      const previous = hash;
      sequence += 1;
      hash = batchHash(previous, sequence, batch.lines);
      insertBatch.run(sequence, previous, hash);
      for (const entry of batch.entries) insert(sequence, entry);
    }
    return { sequence, hash };
  }

  return {
    month,
    identity,
    /** Appends the entries in one transaction; durable when it returns. Answers the new end of the chain. */
    append(entries: readonly AccessEntry[], head: ChainHead): ChainHead {
      let next = head;
      const work = () => {
        next = insertAll(entries, head);
      };
      const [attempt] = commit([work]);
      if (attempt?.ok === true) return next;
      words.forget();
      throw attempt?.error ?? new Error('a commit answered nothing');
    },
    close: (): void => void database.close(),
  };
}
