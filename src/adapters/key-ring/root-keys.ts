import { ownBuffer } from './random-key.js';

/**
 * The root key in one process. New wraps are stored only within `wrapping`, and `replace` waits for those stores.
 * Nothing that the old root key wrapped is therefore stored after the replacement.
 */
export type RootKeys = {
  /** Runs `attempt` with the root key. Returns null if the ciphertext does not open. */
  open<T>(attempt: (rootKey: Buffer) => T | null): T | null;
  /** Runs `store`, which wraps a new key and stores it. */
  wrapping<T>(store: (rootKey: Buffer) => Promise<T>): Promise<T>;
  /**
   * Switches to `next` once `store` has rewrapped everything under it. Resolves to false if `store` changed nothing.
   */
  replace(next: Buffer, store: (rootKey: Buffer) => Promise<boolean>): Promise<boolean>;
  /** Overwrites the root key. Nothing opens afterwards. */
  close(): void;
};

export function createRootKeys(rootKey: Buffer): RootKeys {
  let present = ownBuffer(Buffer.from(rootKey));
  let last: Promise<unknown> = Promise.resolve();

  function alone<T>(work: () => Promise<T>): Promise<T> {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  }

  return {
    open: (attempt) => attempt(present),
    wrapping: (store) => alone(() => store(present)),
    close: () => void present.fill(0),
    replace: (next, store) =>
      alone(async () => {
        if (!(await store(present))) return false;
        present.fill(0);
        present = ownBuffer(Buffer.from(next));
        return true;
      }),
  };
}
