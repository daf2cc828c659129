import type { createModel } from '../../crash/model.js';
import { until } from '../../support/process.js';

/** Generous, because a loaded machine completes only a few requests per second. */
const usualLimitMs = 90_000;

/** Waits until this many more requests of a load are acknowledged. Throws if any response is wrong. */
export async function answered(
  model: ReturnType<typeof createModel>,
  load: Promise<unknown>,
  more: number,
  limitMs = usualLimitMs,
): Promise<void> {
  const target = model.total() + more;
  await Promise.race([
    load,
    until(`${more} more answers`, limitMs, () => (model.total() >= target ? true : undefined)),
  ]);
}
