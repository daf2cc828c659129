import type { KeyRotation } from '../ports/key-rotation.js';

/** How many of the living data keys were looked at. */
export type RotationProgress = { readonly done: number; readonly total: number };

/**
 * Puts all keys under new keys of their tenants, and those under `next` (ADR 29). Cut off anywhere it is begun again with the
 * same `next` and goes on; with one that everything is under already, only what is left of the old one is cleared away.
 */
export async function rotateKeys(
  rotation: KeyRotation,
  next: Buffer,
  onProgress: (progress: RotationProgress) => void = () => undefined,
): Promise<void> {
  while (!(await rotation.isUnder(next))) {
    const total = await rotation.begin();
    let done = 0;
    onProgress({ done, total });
    for (let step = await rotation.rewrap(0); step !== null; step = await rotation.rewrap(step.sequence)) {
      done += step.looked;
      onProgress({ done, total: Math.max(total, done) });
    }
    if (await rotation.replaceRoot(next)) break;
  }
  await rotation.settle();
}
