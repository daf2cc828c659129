import { Worker } from 'node:worker_threads';

/** The files that the thread checkpoints. */
export type CheckpointedFile = 'vault.db' | 'journal.db';

export type ToBackground =
  | { readonly task: 'checkpoint'; readonly file: CheckpointedFile }
  | { readonly task: 'move' }
  | { readonly task: 'drop'; readonly beforeMonth: string; readonly id: number }
  | { readonly task: 'close' };

/** Why a task failed. `store` is null if our code has a bug. */
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
 * How much is written to a file before a checkpoint, in requests for `vault.db` and in bytes for the journal. At that
 * point, the write-ahead log has about 1,000 pages.
 */
const writtenMax: Readonly<Record<CheckpointedFile, number>> = { 'vault.db': 50, 'journal.db': 4 * 1024 * 1024 };

export type Background = ReturnType<typeof startBackground>;

/**
 * Starts the thread for work that no commit should wait for: checkpoints of `vault.db` and the journal, which take 15
 * ms or more, and moving access log batches from the journal into the files of their months. It does not handle
 * `keys.db`, because an erasure runs the checkpoint that it waits for.
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
    /** Counts writes to a file, and starts a checkpoint once there are enough. */
    note(file: CheckpointedFile, amount: number): void {
      written[file] += amount;
      if (written[file] < writtenMax[file] || running.has(file)) return;
      written[file] = 0;
      running.add(file);
      send({ task: 'checkpoint', file });
    },
    send,
    /** Stops the thread. Resolves once it has closed all files. */
    close(): Promise<void> {
      send({ task: 'close' });
      return ended;
    },
  };
}
