import { StoreUnavailable } from '../../ports/store-unavailable.js';

/**
 * Waits for `work`, at most `limitMs`. Then throws StoreUnavailable. The work continues in the background, so the
 * outcome of a write is unknown.
 */
export async function withinLimit<T>(store: string, limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable(store, 'no_answer')), limitMs);
  });
  // Ignores a failure after the limit, so that it is not an unhandled rejection.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
