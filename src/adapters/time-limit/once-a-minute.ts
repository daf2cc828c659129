const restMs = 60_000;

/** Reports an error, then drops further errors for one minute. While a server is down, every call fails. */
export function onceAMinute(onError: (error: unknown) => void): (error: unknown) => void {
  let silentUntil = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now < silentUntil) return;
    silentUntil = now + restMs;
    onError(error);
  };
}
