import { StoreUnavailable } from '../../ports/store-unavailable.js';

/**
 * Waits for `work`, but throws StoreUnavailable after `limitMs`. In that case the work continues in the background, so
 * the outcome of a write is unknown.
 */
export async function withinLimit<T>(store: string, limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable(store, 'no_answer')), limitMs);
  });
  // Prevents an unhandled rejection if `work` fails after the time limit.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
