import { ownBuffer } from './random-key.js';

/**
 * The root key as one process has it. What it wraps anew is stored within `wrapping` and nowhere else, and `replace` waits
 * for that: so nothing that the old root key wrapped arrives after the replacement.
 */
export type RootKeys = {
  /** Opens something with the root key; null: it does not open. */
  open<T>(attempt: (rootKey: Buffer) => T | null): T | null;
  /** Wraps something new and stores it. */
  wrapping<T>(store: (rootKey: Buffer) => Promise<T>): Promise<T>;
  /** Goes over to `next` when `store` has put everything under it; false: it did not, and nothing is changed. */
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
