import { Worker } from 'node:worker_threads';

/** The files for which the thread runs checkpoints. */
export type CheckpointedFile = 'vault.db' | 'journal.db';

export type ToBackground =
  | { readonly task: 'checkpoint'; readonly file: CheckpointedFile }
  | { readonly task: 'move' }
  | { readonly task: 'drop'; readonly beforeMonth: string; readonly id: number }
  | { readonly task: 'close' };

/** The reason why a task failed. `store` is null if the reason is a bug in our code. */
export type TaskFailure = { readonly store: string | null; readonly reason: string };

export type FromBackground =
  /** `vault.db` durably contains all journal groups up to `applied`, which is null if unknown. */
  | { readonly task: 'checkpoint'; readonly file: CheckpointedFile; readonly applied: number | null }
  /** The month files durably contain all batches up to `moved`. */
  | { readonly task: 'move'; readonly moved: number; readonly failure: TaskFailure | null }
  | {
      readonly task: 'drop';
      readonly id: number;
      readonly moved: number;
      readonly months: number;
      readonly failure: TaskFailure | null;
    };

/**
 * How much may be written to a file before a checkpoint begins. The unit is requests for `vault.db`, and bytes for
 * `journal.db`. With these numbers, the write-ahead log has about 1,000 pages when the checkpoint begins.
 */
const writtenMax: Readonly<Record<CheckpointedFile, number>> = { 'vault.db': 50, 'journal.db': 4 * 1024 * 1024 };

export type Background = ReturnType<typeof startBackground>;

/**
 * Starts the thread for work that no commit should wait for. The thread runs checkpoints of `vault.db` and
 * `journal.db`, which take 15 ms or more. It also moves access log batches from the journal into the file of each
 * month. It does not run checkpoints of `keys.db`, because an erasure has to wait for that checkpoint and therefore
 * runs it itself.
 */
export function startBackground(
  dataDir: string,
  onDone: (done: FromBackground) => void,
  onFailed: (error: unknown) => void,
) {
  const worker = new Worker(new URL('./background-thread.js', import.meta.url), {
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
    /** Counts writes to a file, and starts a checkpoint when there are enough. */
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
