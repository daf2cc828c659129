import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { accessLogError } from './access-log-error.js';

/** The length of the first pause after a failure, in ms. The pause doubles with each consecutive failure. */
const pauseMsMin = 1_000;
const pauseMsMax = 60_000;

/**
 * Returns a function that runs `work` on files of the access log, and throws its errors as converted by
 * `accessLogError`. After a failure, a pause follows. During the pause, the function throws the same error again and
 * does not run `work`. Each run may open a damaged file again, and the memory of an opened file is never freed
 * (`pin-statements.ts`). There is no pause after a temporary failure, such as a full disk or a lack of file
 * descriptors. Calls `onPause` when a pause begins.
 */
export function pauseAfterFailure(onPause: () => void = () => undefined) {
  let pauseMs = pauseMsMin;
  let pause: { readonly until: number; readonly failure: Error } | null = null;

  return function attempt<T>(work: () => T): T {
    if (pause !== null && performance.now() < pause.until) throw pause.failure;
    try {
      const done = work();
      pauseMs = pauseMsMin;
      return done;
    } catch (error) {
      const failure = accessLogError(error);
      if (isTemporary(failure)) throw failure;
      pause = { until: performance.now() + pauseMs, failure };
      pauseMs = Math.min(pauseMs * 2, pauseMsMax);
      onPause();
      throw failure;
    }
  };
}

/** Returns true for a failure that can end without a repair, such as a full disk. */
function isTemporary(error: Error): boolean {
  return error instanceof StoreUnavailable && error.found === null && error.reason !== 'broken';
}
