import type { RebuildRate } from '../../ports/generations.js';

/** Counts what is done since it was made, and answers how fast that goes. */
export function createRate() {
  const startedAt = performance.now();
  let first: number | null = null;
  let counted = 0;
  return (events: number, position: number): RebuildRate => {
    first ??= position;
    counted += events;
    const seconds = (performance.now() - startedAt) / 1_000;
    return {
      events: counted,
      eventsPerSecond: counted / seconds,
      positionsPerSecond: (position - first) / seconds,
    };
  };
}
