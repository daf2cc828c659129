/** Of a rebuild in this process. `positionsPerSecond` tells when it comes to the end of the log. */
export type Rate = { readonly events: number; readonly eventsPerSecond: number; readonly positionsPerSecond: number };

/** Counts what is done since it was made; `now` is always up to date. */
export function createRate() {
  const startedAt = performance.now();
  let first: number | null = null;
  const now = { events: 0, eventsPerSecond: 0, positionsPerSecond: 0 };
  return {
    now: now as Rate,
    count(events: number, position: number): void {
      first ??= position;
      const seconds = (performance.now() - startedAt) / 1_000;
      now.events += events;
      now.eventsPerSecond = now.events / seconds;
      now.positionsPerSecond = (position - first) / seconds;
    },
  };
}
