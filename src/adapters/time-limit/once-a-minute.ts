const restMs = 60_000;

/** Tells of the first of many errors and keeps silent for a minute: a server that is down fails every call. */
export function onceAMinute(onError: (error: unknown) => void): (error: unknown) => void {
  let silentUntil = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now < silentUntil) return;
    silentUntil = now + restMs;
    onError(error);
  };
}
