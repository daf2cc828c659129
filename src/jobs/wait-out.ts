import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailable } from '../ports/store-unavailable.js';

/** Tries again after `againMs`, until it was in vain for `limitMs`. */
export type Patience = { readonly againMs: number; readonly limitMs: number };

/**
 * Does a step, which may be repeated, again while a store cannot be had, and answers what it answers. Throws StoreUnavailable
 * when that lasts, and everything else at once. A process that has nothing else to do does not stay for it.
 */
export async function waitOut<T>({ againMs, limitMs }: Patience, step: () => Promise<T>): Promise<T> {
  const until = performance.now() + limitMs;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() > until) throw error;
    }
    await wait(againMs, null, { ref: false });
  }
}
