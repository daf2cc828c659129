import type { KeyRotation } from '../ports/key-rotation.js';
import { type Patience, waitOut } from './wait-out.js';

/** How many of the living data keys were looked at. */
export type RotationProgress = { readonly done: number; readonly total: number };

const twoMinutes: Patience = { againMs: 1_000, limitMs: 120_000 };

/**
 * Puts all keys under new keys of their tenants, and those under `next` (ADR 29). Cut off anywhere it is begun again with the
 * same `next` and goes on; with one that everything is under already, only what is left of the old one is cleared away; then it
 * answers false. Throws StoreUnavailable when there was no progress for as long as its patience lasts.
 */
export async function rotateKeys(
  rotation: KeyRotation,
  next: Buffer,
  onProgress: (progress: RotationProgress) => void = () => undefined,
  patience: Patience = twoMinutes,
): Promise<boolean> {
  const again = <T>(step: () => Promise<T>) => waitOut(patience, step);
  let isRotated = false;
  while (!(await again(() => rotation.isUnder(next)))) {
    isRotated = true;
    const total = await again(() => rotation.begin());
    let done = 0;
    onProgress({ done, total });
    for (let after = 0; ; ) {
      const step = await again(() => rotation.rewrap(after));
      if (step === null) break;
      after = step.sequence;
      done += step.looked;
      onProgress({ done, total: Math.max(total, done) });
    }
    // One whose answer did not come may have arrived: then everything is under it.
    if (await again(async () => (await rotation.isUnder(next)) || (await rotation.replaceRoot(next)))) break;
  }
  await again(() => rotation.settle());
  return isRotated;
}
