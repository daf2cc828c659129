import { StoreUnavailable } from '../../ports/store-unavailable.js';

/**
 * Waits for `work`. If `work` takes longer than `limitMs`, throws StoreUnavailable. In that case, `work` continues in
 * the background, so it is unknown whether a write took effect.
 */
export async function withinLimit<T>(store: string, limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable(store, 'no_answer')), limitMs);
  });
  // If `work` fails after the time limit, this handler prevents an unhandled rejection.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
