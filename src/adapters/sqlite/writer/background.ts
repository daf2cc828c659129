import { Worker } from 'node:worker_threads';

/** The files whose write-ahead logs the thread copies into them. */
export type CheckpointedFile = 'vault.db' | 'journal.db';

export type ToBackground =
  | { readonly task: 'checkpoint'; readonly file: CheckpointedFile }
  | { readonly task: 'move' }
  | { readonly task: 'drop'; readonly beforeMonth: string; readonly id: number }
  | { readonly task: 'close' };

/** Why a task failed. `store` is null for a bug of ours. */
export type TaskFailure = { readonly store: string | null; readonly reason: string };

export type FromBackground =
  /** `applied`: `vault.db` holds all groups of the journal up to this one durably. Null if that is not known. */
  | { readonly task: 'checkpoint'; readonly file: CheckpointedFile; readonly applied: number | null }
  /** `moved`: the files of the months hold all batches up to this one durably. */
  | { readonly task: 'move'; readonly moved: number; readonly failure: TaskFailure | null }
  | {
      readonly task: 'drop';
      readonly id: number;
      readonly moved: number;
      readonly months: number;
      readonly failure: TaskFailure | null;
    };

/**
 * How much is written to a file before its write-ahead log, then about 1,000 pages, is copied into it: requests to
 * `vault.db`, bytes to the journal.
 */
const writtenMax: Readonly<Record<CheckpointedFile, number>> = { 'vault.db': 50, 'journal.db': 4 * 1024 * 1024 };

export type Background = ReturnType<typeof startBackground>;

/**
 * Starts the thread that does what no commit should wait for: checkpoints of `vault.db` and of the journal, which take
 * 15 ms or more, and the move of batches of the access log from the journal into the files of their months. `keys.db` is
 * not among them, because an erasure runs the checkpoint that it waits for.
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
    /** Counts durable writes to a file. Starts a checkpoint once there are enough. */
    note(file: CheckpointedFile, amount: number): void {
      written[file] += amount;
      if (written[file] < writtenMax[file] || running.has(file)) return;
      written[file] = 0;
      running.add(file);
      send({ task: 'checkpoint', file });
    },
    send,
    /** Resolves once the thread has closed all files. */
    close(): Promise<void> {
      send({ task: 'close' });
      return ended;
    },
  };
}
