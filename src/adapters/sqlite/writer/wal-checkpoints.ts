import { Worker } from 'node:worker_threads';

/** A file whose write-ahead log grew. `identity` tells a file from one that replaced it under the same name. */
export type CheckpointedFile = {
  readonly of: 'vault.db' | 'access log';
  readonly path: string;
  readonly identity: string;
};

/**
 * How many requests to `vault.db`, and how many entries of the access log, make the write-ahead log so long that it is
 * copied into the file: about 1,000 pages.
 */
const writesMax: Readonly<Record<CheckpointedFile['of'], number>> = { 'vault.db': 50, 'access log': 300 };

export type WalCheckpoints = {
  /** Counts durable writes to a file. Starts a checkpoint once there are enough. */
  note(file: CheckpointedFile, writes: number): void;
  /** Resolves once the thread has closed all files. */
  close(): Promise<void>;
};

/**
 * Starts the thread that runs the checkpoints of `vault.db` and of the access log, so that no commit waits for one: it
 * takes 15 ms or more. `keys.db` is not among them, because an erasure runs the checkpoint that it waits for. If the
 * thread fails, SQLite runs checkpoints in commits, as soon as the log is long (`openDatabase`).
 */
export function startWalCheckpoints(): WalCheckpoints {
  const worker = new Worker(new URL('./wal-checkpoint-thread.js', import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: 1 },
  });
  const writes = { 'vault.db': 0, 'access log': 0 };
  const running = new Set<string>();
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.on('message', (of: string) => void running.delete(of));
  worker.on('error', () => undefined);
  return {
    note(file, count) {
      const { of } = file;
      writes[of] += count;
      if (writes[of] < writesMax[of] || running.has(of)) return;
      writes[of] = 0;
      running.add(of);
      worker.postMessage(file);
    },
    close() {
      worker.postMessage('close');
      return ended;
    },
  };
}
