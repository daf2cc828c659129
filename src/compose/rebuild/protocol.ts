import type { RebuildThread } from '../../ports/rebuild-thread.js';
import type { ThreadError } from './thread-error.js';

/** The data that the rebuild thread receives when it starts. */
export type ThreadData = { readonly dataDir: string; readonly rootKey: Uint8Array };

export type ThreadMethod = 'build' | 'compare' | 'directory';

/** A call to a method of `RebuildThread`, with its arguments. `close` gets no response, because it stops the thread. */
export type ToThread =
  | { readonly id: number; readonly method: ThreadMethod; readonly input: Parameters<RebuildThread[ThreadMethod]> }
  | { readonly method: 'close' };

/** The `id` of the message that says why the thread could not start. */
export const startId = 0;

export type FromThread =
  | { readonly id: number; readonly ok: true; readonly answer: unknown }
  | { readonly id: number; readonly ok: false; readonly error: ThreadError };
