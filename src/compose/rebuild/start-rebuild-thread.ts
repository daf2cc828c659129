import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { RebuildThread } from '../../ports/rebuild-thread.js';
import { type FromThread, startId, type ThreadData, type ThreadMethod, type ToThread } from './protocol.js';
import { fromThreadError } from './thread-error.js';

type Waiting = { resolve(answer: unknown): void; reject(error: Error): void };

/**
 * Starts a `RebuildThread` on a separate thread. That thread opens the files of the data directory itself. It reads the
 * root key from shared memory and then zeroes that memory. Sending the key in a message would leave copies of the key
 * in memory.
 */
export function startRebuildThread(data: ThreadData): RebuildThread {
  const rootKey = new Uint8Array(new SharedArrayBuffer(data.rootKey.length));
  rootKey.set(data.rootKey);
  // This is `dist/bin/rebuild-worker.cjs`, which `scripts/bundle.mjs` builds from `rebuild-worker.ts`.
  const worker = new Worker(createRequire(import.meta.url).resolve('#src/bin/rebuild-worker.cjs'), {
    workerData: { ...data, rootKey },
  });
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const waiting = new Map<number, Waiting>();
  let lastId = startId;
  let failure: Error | null = null;

  function send(message: ToThread): void {
    worker.postMessage(message);
  }

  function fail(): void {
    failure ??= new Error('the rebuild thread ended unexpectedly');
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  }

  function call<M extends ThreadMethod>(
    method: M,
    ...input: Parameters<RebuildThread[M]>
  ): ReturnType<RebuildThread[M]> {
    const answered = new Promise((resolve, reject) => {
      if (failure !== null) return reject(failure);
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      send({ id: lastId, method, input });
    });
    return answered as ReturnType<RebuildThread[M]>;
  }

  worker.on('error', fail);
  worker.on('exit', fail);
  worker.on('message', (message: FromThread) => {
    if (message.id === startId && !message.ok) failure = fromThreadError(message.error);
    const waiter = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.ok) waiter?.resolve(message.answer);
    else waiter?.reject(fromThreadError(message.error));
  });

  async function close(): Promise<void> {
    send({ method: 'close' });
    await ended;
  }

  return {
    build: (...input) => call('build', ...input),
    compare: (...input) => call('compare', ...input),
    directory: () => call('directory'),
    // Only the rebuild thread caches unwrapped keys for the rebuild, so they are gone once the thread has exited.
    forgetKeys: close,
    close,
  };
}
