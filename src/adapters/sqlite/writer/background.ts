import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { ThreadFailure } from './thread-failure.js';

/** The files for which the background thread runs checkpoints. */
export type CheckpointedFile = 'vault.db' | 'journal.db';

export type ToBackground =
  | { readonly task: 'checkpoint'; readonly file: CheckpointedFile }
  | { readonly task: 'move' }
  | { readonly task: 'drop'; readonly beforeMonth: string; readonly thisMonth: string; readonly id: number }
  | { readonly task: 'close' };

export type FromBackground =
  /**
   * All journal groups up to `applied` are durable in `vault.db`. `applied` is null if the checkpoint did not complete
   * or was a checkpoint of `journal.db`.
   */
  | { readonly task: 'checkpoint'; readonly file: CheckpointedFile; readonly applied: number | null }
  /** All batches up to `moved` are durable in the month files. */
  | { readonly task: 'move'; readonly moved: number; readonly failure: ThreadFailure | null }
  | {
      readonly task: 'drop';
      readonly id: number;
      readonly moved: number;
      readonly months: number;
      readonly failure: ThreadFailure | null;
    };

/**
 * How much is written to a file before a checkpoint begins: a number of requests of usual size for `vault.db`, and
 * a number of bytes for `journal.db`. Both values correspond to about 1,000 pages in the write-ahead log.
 */
const writtenMax: Readonly<Record<CheckpointedFile, number>> = { 'vault.db': 50, 'journal.db': 4 * 1024 * 1024 };

export type Background = ReturnType<typeof startBackground>;

/**
 * Starts the background thread, which does the work that commits must not wait for. It runs checkpoints of `vault.db`
 * and `journal.db`, which take 15 ms or more, and moves access log batches from the journal to the month files.
 * Checkpoints of `keys.db` run in the writer thread instead, because every erasure has to wait for such a checkpoint.
 */
export function startBackground(
  dataDir: string,
  onDone: (done: FromBackground) => void,
  onFailed: (error: unknown) => void,
) {
  // This is `dist/bin/background-thread.cjs`, which `scripts/bundle.mjs` builds from `background-thread.ts`.
  const worker = new Worker(createRequire(import.meta.url).resolve('#src/bin/background-thread.cjs'), {
    workerData: { dataDir },
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
  const written = { 'vault.db': 0, 'journal.db': 0 };
  const running = new Set<CheckpointedFile>();
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.on('message', (done: FromBackground) => {
    if (done.task === 'checkpoint') running.delete(done.file);
    onDone(done);
  });
  worker.on('error', onFailed);
  const send = (message: ToBackground): void => worker.postMessage(message);
  return {
    /** Counts writes to a file, and starts a checkpoint when enough has been written. */
    note(file: CheckpointedFile, amount: number): void {
      written[file] += amount;
      if (written[file] < writtenMax[file] || running.has(file)) return;
      written[file] = 0;
      running.add(file);
      send({ task: 'checkpoint', file });
    },
    send,
    /** Stops the thread. Resolves when the thread has closed all files. */
    close(): Promise<void> {
      send({ task: 'close' });
      return ended;
    },
  };
}
