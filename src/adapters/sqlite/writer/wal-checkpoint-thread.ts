import { parentPort } from 'node:worker_threads';
import { openDatabase, type SqliteDatabase } from '../database/open-database.js';
import type { CheckpointedFile } from './wal-checkpoints.js';

/** A commit that arrives during a checkpoint leaves a remainder, which takes less time to copy. */
const passesMax = 3;

type Opened = { readonly identity: string; readonly database: SqliteDatabase };

const opened = new Map<CheckpointedFile['of'], Opened>();

/** Returns a connection to the file. Its predecessor, such as the last month of the access log, is closed. */
function connectionOf({ of, path, identity }: CheckpointedFile): SqliteDatabase {
  const known = opened.get(of);
  if (known?.identity === identity) return known.database;
  close(of);
  const database = openDatabase(path, of, 'checkpointer');
  opened.set(of, { identity, database });
  return database;
}

function close(of: CheckpointedFile['of']): void {
  opened.get(of)?.database.close();
  opened.delete(of);
}

/**
 * Copies the write-ahead log of a file into the file. A failure is not reported: the writer runs a checkpoint itself
 * once the log is long, and reports what is wrong with the file.
 */
function checkpoint(file: CheckpointedFile): void {
  try {
    const database = connectionOf(file);
    for (let pass = 0; pass < passesMax; pass += 1) {
      const [row] = database.pragma('wal_checkpoint(PASSIVE)') as readonly {
        readonly log: number;
        readonly checkpointed: number;
      }[];
      if (row === undefined || row.log === row.checkpointed) return;
    }
  } catch {
    close(file.of);
  }
}

const port = parentPort;
port?.on('message', (file: CheckpointedFile | 'close') => {
  if (file === 'close') {
    for (const of of [...opened.keys()]) close(of);
    port.close();
    return;
  }
  checkpoint(file);
  port.postMessage(file.of);
});
