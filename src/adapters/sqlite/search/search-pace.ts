import { performance } from 'node:perf_hooks';
import type { Steps } from '../../../domain/steps.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';

/** After this time (in ms), a search lets other work run on the thread. */
const sliceMs = 2;
/**
 * The time limit for a search, in ms. The limit is needed because the write-ahead log cannot be truncated while a
 * search has a read transaction open.
 */
const patienceMs = 10_000;

/** Runs a part of a search. At its yields, other work may run. Throws StoreUnavailable after ten seconds. */
export type RunSteps = <T>(steps: Steps<T>) => Promise<T>;

/**
 * Returns a function that begins a search. A search begins immediately. In each turn of the event loop, at most one
 * paused search continues. Threat: if each of several long searches ran in each turn, requests of other callers would
 * wait for all of them.
 */
export function createSearchPace(): () => RunSteps {
  const waiting: (() => void)[] = [];

  function schedule(): void {
    setImmediate(() => {
      waiting.shift()?.();
      if (waiting.length > 0) schedule();
    });
  }

  function nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) schedule();
    });
  }

  return () => {
    const startedAt = performance.now();
    let sliceAt = startedAt;
    return async (steps) => {
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        const now = performance.now();
        if (now - startedAt > patienceMs) throw new StoreUnavailable('vault.db', 'search_took_too_long');
        if (now - sliceAt < sliceMs) continue;
        await nextTurn();
        sliceAt = performance.now();
      }
    };
  };
}
