import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { KeyRotation } from '../keys/key-ring.js';
import { RotationRefused, rootReplaced } from '../keys/rotation.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';

/**
 * The number of living data keys that have been processed, and the total number of living data keys. `waitsFor` is set
 * while the rotation waits for a store.
 */
type RotationProgress = { readonly done: number; readonly total: number; readonly waitsFor?: StoreUnavailable };

const twoMinutes: RetryPolicy = { againMs: 1_000, limitMs: 120_000 };

const keysLeft =
  'some data keys are still wrapped under old keys, for example keys of a deleted tenant; nothing was removed. Run ' +
  '`strongroom doctor`, and then repeat the rotation, which continues.';

/**
 * Rewraps all data keys under new wrapping keys, and the tenant keys under `next` (ADR 29). After an interruption, a
 * call with the same `next` continues the rotation. If all keys are already wrapped under `next`, the call only runs
 * `settle` and returns false. Throws StoreUnavailable if a store stays unavailable for too long. Throws RotationRefused
 * if data keys stay under old keys for too long, or if another process has put a root key other than `next` into use.
 */
export async function rotateKeys(
  rotation: KeyRotation,
  next: Buffer,
  onProgress: (progress: RotationProgress) => void = () => undefined,
  policy: RetryPolicy = twoMinutes,
): Promise<boolean> {
  let progress: RotationProgress = { done: 0, total: 0 };
  const show = (shown: RotationProgress): void => {
    progress = shown;
    onProgress(shown);
  };
  const onWait = (waitsFor: StoreUnavailable | null): void =>
    onProgress(waitsFor === null ? progress : { ...progress, waitsFor });
  const from = await retry(policy, () => rotation.rootCheck(), onWait);

  /**
   * Returns the cause of a step's error. If another process completes a rotation during the step, the keys that the step
   * has read no longer open. With the same `next`, the step can be repeated.
   */
  async function causeOf(error: unknown): Promise<unknown> {
    const lacksRoot = error instanceof StoreUnavailable && error.reason === 'root_key_replaced';
    if (!(lacksRoot || error instanceof RotationRefused)) return error;
    if (!lacksRoot && isDeepStrictEqual(await rotation.rootCheck(), from)) return error;
    if (!(await rotation.isUnder(next))) return new RotationRefused(rootReplaced);
    return lacksRoot ? error : new StoreUnavailable('key store', 'root_key_replaced');
  }

  const again = <T>(step: () => Promise<T>) =>
    retry(
      policy,
      () =>
        step().catch(async (error: unknown) => {
          throw await causeOf(error);
        }),
      onWait,
    );
  let isRotated = false;
  let leftSince: number | null = null;
  while (!(await again(() => rotation.isUnder(next)))) {
    isRotated = true;
    const total = await again(() => rotation.begin(from));
    let done = 0;
    show({ done, total });
    for (let after = 0; ; ) {
      const step = await again(() => rotation.rewrap(after));
      if (step === null) break;
      after = step.sequence;
      done += step.looked;
      show({ done, total: Math.max(total, done) });
    }
    // Keys that were counted may have been destroyed before they were read.
    show({ done, total: done });
    // An earlier call may have succeeded even though its response was lost. In that case, all keys are already wrapped
    // under the new key.
    if (await again(async () => (await rotation.isUnder(next)) || (await rotation.replaceRoot(next, from)))) break;
    // Threat: a planted data key whose tenant is deleted cannot be rewrapped, so the rotation would go on forever.
    leftSince ??= performance.now();
    if (performance.now() - leftSince > policy.limitMs) throw new RotationRefused(keysLeft);
    await wait(policy.againMs, null, { ref: false });
  }
  await again(() => rotation.settle());
  // Threat: if another rotation has completed meanwhile, the caller would overwrite the only file with the current root
  // key.
  if (!(await again(() => rotation.isUnder(next)))) throw new RotationRefused(rootReplaced);
  return isRotated;
}

/** How to retry a failing step: every `againMs`, for at most `limitMs`. */
type RetryPolicy = { readonly againMs: number; readonly limitMs: number };

/**
 * Runs an idempotent step and returns its result. Retries the step while a store is unavailable. Throws
 * StoreUnavailable after the time limit, and any other error immediately. A pause between two retries does not prevent
 * the process from exiting. Calls `onWait` with the error before each pause, and with null when the step has succeeded
 * after a pause.
 */
async function retry<T>(
  { againMs, limitMs }: RetryPolicy,
  step: () => Promise<T>,
  onWait: (error: StoreUnavailable | null) => void,
): Promise<T> {
  const until = performance.now() + limitMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      const result = await step();
      if (!isFirst) onWait(null);
      return result;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() > until) throw error;
      onWait(error);
    }
    await wait(againMs, null, { ref: false });
  }
}
