import type { createModel } from '../../crash/model.js';
import { until } from '../../support/process.js';

/** The default time limit, in ms. It is generous, because a loaded machine completes only a few requests per second. */
const usualLimitMs = 90_000;

/**
 * Waits until `more` additional requests of a load are acknowledged. Throws if the load ends because a response was
 * wrong.
 */
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
