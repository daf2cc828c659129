import { join } from 'node:path';
import type { AccessEntry } from '../../../events/access-log/access-entry.js';
import { batchHash, entryLine } from '../../../events/access-log/batch-hash.js';
import { prepareFile } from '../prepare-file.js';
import { createGroupCommit } from '../writer/group-commit.js';
import { accessSchema, accessSchemaVersion } from './access-schema.js';
import type { Month } from './month.js';
import { fileIdentity, monthFile } from './month-files.js';
import { createWords } from './words.js';

const batchBytesMax = 256 * 1024;

/** The end of the chain: what the next batch is linked to. */
export type ChainHead = { readonly sequence: number; readonly hash: Uint8Array };

export type MonthWriter = ReturnType<typeof openMonthWriter>;

/** Opens one month's file for appending and makes it when it is not there. */
export function openMonthWriter(dataDir: string, month: Month) {
  const fileName = monthFile(month);
  const database = prepareFile(join(dataDir, fileName), fileName, accessSchema, accessSchemaVersion, 'unchecked');
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
      ...[batch, idOf(entry.tenantId), entry.time, idOf(entry.actorId), idOf(entry.actorType), idOrNull(entry.keyId)],
      ...[idOrNull(entry.sourceAddress), idOf(entry.entityType)],
      ...[entityRef === null ? null : Buffer.from(entityRef, 'hex'), idOrNull(entry.entityId), idOf(entry.operation)],
      ...[idOf(entry.outcome), idOf(entry.message), trace, tracePlace?.stream ?? null, tracePlace?.revision ?? null],
    );
  }

  function insertAll(entries: readonly AccessEntry[], head: ChainHead): ChainHead {
    let { sequence, hash } = head;
    for (const batch of batchesOf(entries)) {
      const previous = hash;
      sequence += 1;
      hash = batchHash(
        previous,
        sequence,
        batch.map(({ line }) => line),
      );
      insertBatch.run(sequence, previous, hash);
      for (const { entry } of batch) insert(sequence, entry);
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

type Line = { readonly entry: AccessEntry; readonly line: string };

/** Entries in batches of at most 256 KiB. */
function batchesOf(entries: readonly AccessEntry[]): Line[][] {
  const batches: Line[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const line = entryLine(entry);
    if (bytes + line.length > batchBytesMax) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push({ entry, line });
    bytes += line.length;
  }
  return batches;
}
