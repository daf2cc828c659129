import { setTimeout as wait } from 'node:timers/promises';
import { isPassing, noAnswer, translated } from './failure.js';

const pauseMs = 100;

/**
 * Makes a call again and again while the server is away, for `limitMs` at most; each try is told how many ms are left.
 * Throws StoreUnavailable when the time is spent, and what else went wrong at once.
 */
export async function persist<T>(
  limitMs: number,
  attempt: (leftMs: number, isFirst: boolean) => Promise<T>,
): Promise<T> {
  const until = performance.now() + limitMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await attempt(until - performance.now(), isFirst);
    } catch (error) {
      if (!isPassing(error) || performance.now() + pauseMs > until) throw translated(error);
    }
    await wait(pauseMs * (0.5 + Math.random() / 2));
  }
}

/**
 * Settles as `work` does, or rejects with StoreUnavailable after `limitMs`: the client enforces no deadline on appends
 * and reads. What `work` comes to later is nobody's business any more.
 */
export function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(noAnswer()), Math.max(0, limitMs));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
