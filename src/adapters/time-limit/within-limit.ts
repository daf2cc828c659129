import { StoreUnavailable } from '../../ports/store-unavailable.js';

/**
 * Waits for work at most this long. Throws StoreUnavailable then; the work goes on unseen, so the outcome of a write is
 * unknown.
 */
export async function withinLimit<T>(store: string, limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable(store, 'no_answer')), limitMs);
  });
  // What fails after its time is nobody's any more.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
