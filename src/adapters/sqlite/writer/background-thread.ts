import { join } from 'node:path';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createBatchMover } from '../access-log/batch-mover.js';
import { databaseError, StoreBroken } from '../database/database-error.js';
import { openDatabase, type SqliteDatabase } from '../database/open-database.js';
import type { CheckpointedFile, FromBackground, ToBackground } from './background.js';
import { failureOf } from './thread-failure.js';

/**
 * The maximum number of passes per checkpoint. A commit during a pass adds pages to the write-ahead log that this pass
 * does not copy. The next pass copies them and takes less time.
 */
const passesMax = 3;

function start(port: MessagePort, dataDir: string): void {
  const open = (file: CheckpointedFile): SqliteDatabase => openDatabase(join(dataDir, file), file, 'checkpointer');
  const files: Readonly<Record<CheckpointedFile, SqliteDatabase>> = {
    'vault.db': open('vault.db'),
    'journal.db': open('journal.db'),
  };
  const applied = files['vault.db'].prepare('SELECT sequence FROM applied').pluck();
  const mover = createBatchMover(files['journal.db'], dataDir);

  /**
   * Copies a file's write-ahead log into the file, and syncs the file. Returns true if all pages that were in the log
   * at the beginning have been copied.
   */
  function checkpoint(file: CheckpointedFile): boolean {
    for (let pass = 0; pass < passesMax; pass += 1) {
      const [row] = files[file].pragma('wal_checkpoint(PASSIVE)') as readonly {
        readonly busy: number;
        readonly log: number;
        readonly checkpointed: number;
      }[];
      // While the writer runs a checkpoint, this one cannot begin, and both numbers are -1.
      if (row === undefined || row.busy !== 0) return false;
      if (row.log === row.checkpointed) return true;
    }
    return false;
  }

  /**
   * Runs a checkpoint. If the disk is full, the log grows until a commit fails for the same reason. Throws StoreBroken
   * if the file itself is broken. The vault then stops, because nothing else may notice the problem for a long time:
   * SQLite reports no failure of a checkpoint that it runs after a commit.
   */
  function checkpointed(file: CheckpointedFile): FromBackground {
    try {
      // Reads the sequence number before the checkpoint begins, so that the checkpoint includes the group with this
      // number.
      const sequence = file === 'vault.db' ? Number(applied.get()) : null;
      return { task: 'checkpoint', file, applied: checkpoint(file) ? sequence : null };
    } catch (error) {
      const failure = databaseError(error, file, files[file].name);
      if (failure instanceof StoreBroken) throw failure;
      return { task: 'checkpoint', file, applied: null };
    }
  }

  function close(): void {
    mover.close();
    for (const database of Object.values(files)) database.close();
    port.close();
  }

  function run(message: Exclude<ToBackground, { readonly task: 'close' }>): FromBackground {
    if (message.task === 'checkpoint') return checkpointed(message.file);
    if (message.task === 'move') {
      const result = mover.move();
      return { task: 'move', moved: mover.moved(), failure: result instanceof Error ? failureOf(result) : null };
    }
    const result = mover.drop(message.beforeMonth, message.thisMonth);
    const ended = { task: 'drop', id: message.id, moved: mover.moved() } as const;
    return result instanceof Error
      ? { ...ended, months: 0, failure: failureOf(result) }
      : { ...ended, months: result, failure: null };
  }

  port.on('message', (message: ToBackground) => {
    if (message.task === 'close') close();
    else port.postMessage(run(message));
  });
}

if (parentPort !== null) start(parentPort, (workerData as { dataDir: string }).dataDir);
