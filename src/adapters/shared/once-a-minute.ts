const restMs = 60_000;

/**
 * Returns a function that reports an error and then ignores all errors for one minute. Without this limit, every call
 * to a server that is down would report an error.
 */
export function onceAMinute(onError: (error: unknown) => void): (error: unknown) => void {
  let silentUntil = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now < silentUntil) return;
    silentUntil = now + restMs;
    onError(error);
  };
}
