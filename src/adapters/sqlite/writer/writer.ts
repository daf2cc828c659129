import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { FoundProblem } from '../../../ports/store-problem.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { StoreBroken } from '../database/database-error.js';
import type { FromWriter, ToWriter, WriterOperation, WriterOperations, WriterRequest } from './protocol.js';
import { errorOf } from './thread-failure.js';

const endedUnexpectedly = 'the thread that writes to the store ended unexpectedly';

type Waiting = { resolve(answer: unknown): void; reject(error: Error): void };

export type Writer = {
  /** Resolves when the change is durable. Rejects with StoreUnavailable if nothing was stored. */
  request<O extends WriterOperation>(
    operation: O,
    input: WriterOperations[O]['input'],
  ): Promise<WriterOperations[O]['answer']>;
  /** A message for the operator about the state of the files, or null if there is nothing to report. */
  readonly notice: string | null;
  /** Finishes pending requests, empties the write-ahead logs of the files, and closes the files. */
  close(): Promise<void>;
};

/**
 * The size of V8's young generation, in MB. The garbage from one group of requests fits into it. With the default size,
 * V8 would use four times as much memory before it collects the garbage.
 */
const youngGenerationMb = 12;

/**
 * The maximum number of requests in one message to the writer thread. The limit lets the writer thread start its work
 * before the current turn of the event loop ends.
 */
const requestsOfMessage = 8;

type WriterListeners = {
  /** Called if the files become unusable. The thread has then stopped writing. */
  onBroken(error: StoreBroken): void;
  /** Called after each commit to `vault.db`, with the number of requests in the commit. */
  onCommitted?(requests: number): void;
  /**
   * Called with a file whose write-ahead log cannot be emptied because a program uses the file, and with null once no
   * program prevents this any longer.
   */
  onHeldUp?(file: string | null): void;
  /** Called when the search index is found to be damaged, and with null once it is not damaged any longer. */
  onIndexDamaged?(found: FoundProblem | null): void;
};

/** Starts the thread that writes the files in `dataDir`. Rejects with StoreBroken if the files cannot be used. */
export function startWriter(dataDir: string, listeners: WriterListeners): Promise<Writer> {
  // This is `dist/bin/writer-thread.cjs`, which `scripts/bundle.mjs` builds from `writer-thread.ts`.
  const worker = new Worker(createRequire(import.meta.url).resolve('#src/bin/writer-thread.cjs'), {
    workerData: { dataDir },
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
  });
  const waiting = new Map<number, Waiting>();
  let outgoing: WriterRequest[] = [];
  let lastId = 0;
  let failure: StoreBroken | null = null;
  let closing: Promise<void> | null = null;
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));

  function flush(): void {
    if (outgoing.length === 0) return;
    const requests = outgoing;
    outgoing = [];
    send({ message: 'requests', requests });
  }

  function send(message: ToWriter): void {
    worker.postMessage(message);
  }

  function request<O extends WriterOperation>(
    operation: O,
    input: WriterOperations[O]['input'],
  ): Promise<WriterOperations[O]['answer']> {
    return new Promise((resolve, reject) => {
      if (failure !== null || closing !== null) {
        reject(new StoreUnavailable('writer', failure === null ? 'closing' : 'broken'));
        return;
      }
      lastId += 1;
      waiting.set(lastId, { resolve: resolve as (answer: unknown) => void, reject });
      if (outgoing.length === 0) setImmediate(flush);
      outgoing.push({ id: lastId, operation, input } as WriterRequest);
      // Sends access records immediately, because they are already grouped when they arrive.
      if (outgoing.length === requestsOfMessage || operation === 'record_access') flush();
    });
  }

  /** Stops the thread. Resolves when the thread has ended and released the files. */
  function close(): Promise<void> {
    if (closing === null && failure === null) {
      flush();
      send({ message: 'close' });
    }
    closing ??= ended;
    return closing;
  }

  function settle(message: Extract<FromWriter, { message: 'replies' }>): void {
    if (message.of === 'vault') listeners.onCommitted?.(message.replies.length);
    for (const reply of message.replies) {
      const waiter = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (reply.ok) waiter?.resolve(reply.answer);
      else waiter?.reject(errorOf(reply.failure));
    }
  }

  function breakDown(problem: string | FoundProblem): StoreBroken {
    const error = new StoreBroken(problem);
    failure = error;
    for (const { reject } of waiting.values()) reject(new StoreUnavailable('writer', 'broken'));
    waiting.clear();
    return error;
  }

  return new Promise((resolve, reject) => {
    let ready = false;
    const fail = (problem: string | FoundProblem): void => {
      if (failure !== null) return;
      const error = breakDown(problem);
      if (ready) listeners.onBroken(error);
      // Rejects only after the writer thread has released the files. The caller can then open the files in another
      // thread.
      else ended.then(() => reject(error));
    };
    worker.on('error', () => fail(endedUnexpectedly));
    worker.on('exit', () => {
      if (closing === null || waiting.size > 0) fail(endedUnexpectedly);
    });
    worker.on('message', (message: FromWriter) => {
      if (message.message === 'replies') return settle(message);
      if (message.message === 'broken') return fail(message.problem);
      if (message.message === 'held_up') return listeners.onHeldUp?.(message.file);
      if (message.message === 'index_damaged') return listeners.onIndexDamaged?.(message.found);
      ready = true;
      resolve({ request, notice: message.notice, close });
    });
  });
}
