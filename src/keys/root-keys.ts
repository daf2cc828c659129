import { openCiphertext, sealCiphertext } from '../events/sealing/ciphertext.js';
import type { KeyStore } from '../ports/key-store.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import { ownBuffer } from './random-key.js';

const place = { tenantId: '', stream: 'root', revision: 0, keyId: 'root', field: 'root-check' } as const;

/**
 * Returns the check value of a root key: 16 zero bytes that are sealed under the key. Every key store contains the
 * check value of its root key.
 */
function newRootCheck(rootKey: Buffer): Buffer {
  return sealCiphertext(rootKey, Buffer.alloc(16), place);
}

/**
 * Returns true if `check` was created with this root key. If a store contains `check`, the store's keys are wrapped
 * under this root key.
 */
export function passesRootCheck(rootKey: Buffer, check: Buffer): boolean {
  return openCiphertext(rootKey, check, place) !== null;
}

/** Explains that the root key does not open a key store. `title` is the title of the store. */
export function wrongRootKeyText(title: string): string {
  return `this root key does not open ${title}. Set root_key_file to the file of the current root key.`;
}

/** Reads other candidates for the root key. The caller must zero all of them. */
export type RootKeySource = () => Promise<readonly Buffer[]>;

/**
 * The root key in one process. Another process that shares the store may replace the root key at any time. In that
 * case, `refresh` reads the new root key from the source. If this process wraps a key under the old root key after the
 * replacement, the store rejects that key.
 */
export type RootKeys = {
  /**
   * Runs `attempt` with the root key and returns the result. `attempt` returns null if the root key cannot decrypt its
   * ciphertext.
   */
  open<T>(attempt: (rootKey: Buffer) => T | null): T | null;
  /**
   * Runs `read`, and returns its result. If `isOpen` returns false for the result, runs `read` once more with the
   * store's current root key, because another process may have replaced the root key. Throws StoreUnavailable if this
   * process cannot read the current root key yet.
   */
  retry<T>(read: () => Promise<T>, isOpen: (found: T) => boolean): Promise<T>;
  /**
   * Runs `wrapAndStore`, which must store the new key only if `check` is still the store's check value. If another
   * process has replaced the root key, refreshes the root key and runs `wrapAndStore` again.
   */
  wrapping<T extends string>(
    wrapAndStore: (rootKey: Buffer, check: Buffer) => Promise<T | 'root_replaced'>,
  ): Promise<Exclude<T, 'root_replaced'>>;
  /**
   * Runs `rewrap`, and then switches to `next`. `rewrap` must rewrap all keys under `next` and store them. Returns
   * false if `rewrap` changed nothing. Throws StoreUnavailable if the root key with the check value `from` is no longer
   * the store's, because another process has replaced it, or is not yet this process's.
   */
  replace(
    next: Buffer,
    from: Buffer,
    rewrap: (rootKey: Buffer, check: Buffer, nextCheck: Buffer) => ReturnType<KeyStore['rotation']['replaceRoot']>,
  ): Promise<boolean>;
  /**
   * Switches to the new root key if another process has replaced the root key. Throws StoreUnavailable if this process
   * cannot read the new root key yet.
   */
  refresh(): Promise<void>;
  /** Does the same, but returns false if this process cannot read the new root key yet. */
  follow(): Promise<boolean>;
  /** Returns a copy of the root key. The caller must zero the copy. */
  copy(): Buffer;
  /** Overwrites the root key in memory. After that, this process cannot unwrap any key. */
  close(): void;
};

/**
 * Returns the root key of a key store. It is either `rootKey` or a candidate from `source`. In a new store, stores the
 * check value of `rootKey`. Throws the store's error if neither `rootKey` nor a candidate matches the store's check
 * value. Copies `rootKey`, so the caller can zero its own buffer.
 */
export async function openRootKeys(store: KeyStore, rootKey: Buffer, source: RootKeySource): Promise<RootKeys> {
  const check = (await store.rootCheck()) ?? (await store.createRootCheck(newRootCheck(rootKey)));
  let present = { rootKey: ownBuffer(Buffer.from(rootKey)), check };
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one piece of work at a time. This ensures that no new key is stored while the root key is being replaced. */
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  }

  function switchTo(next: Buffer, nextCheck: Buffer): void {
    present.rootKey.fill(0);
    present = { rootKey: ownBuffer(Buffer.from(next)), check: nextCheck };
  }

  /** Switches to the candidate that matches the check value. Returns false if no candidate matches it. */
  async function find(wanted: Buffer): Promise<boolean> {
    const candidates = await source();
    const found = candidates.find((candidate) => passesRootCheck(candidate, wanted));
    if (found !== undefined) switchTo(found, wanted);
    for (const candidate of candidates) candidate.fill(0);
    return found !== undefined;
  }

  async function follow(): Promise<boolean> {
    const stored = await store.rootCheck();
    return stored !== null && (stored.equals(present.check) || (await find(stored)));
  }

  async function refresh(): Promise<void> {
    if (!(await follow())) throw new StoreUnavailable(store.name, 'root_key_replaced');
  }

  if (!passesRootCheck(rootKey, check) && !(await find(check))) {
    present.rootKey.fill(0);
    throw store.broken(wrongRootKeyText(store.title));
  }

  return {
    open: (attempt) => attempt(present.rootKey),
    async retry(read, isOpen) {
      const found = await read();
      if (isOpen(found)) return found;
      await alone(refresh);
      return read();
    },
    refresh: () => alone(refresh),
    follow: () => alone(follow),
    copy: () => ownBuffer(Buffer.from(present.rootKey)),
    close: () => void present.rootKey.fill(0),
    wrapping: (wrapAndStore) =>
      alone(async () => {
        for (;;) {
          const outcome = await wrapAndStore(present.rootKey, present.check);
          if (isStored(outcome)) return outcome;
          await refresh();
        }
      }),
    replace: (next, from, rewrap) =>
      alone(async () => {
        if (!present.check.equals(from)) await refresh();
        const nextCheck = newRootCheck(next);
        const outcome = present.check.equals(from) ? await rewrap(present.rootKey, from, nextCheck) : 'root_replaced';
        if (outcome === 'root_replaced') throw new StoreUnavailable(store.name, 'root_key_replaced');
        if (outcome === 'replaced') switchTo(next, nextCheck);
        return outcome === 'replaced';
      }),
  };
}

function isStored<T extends string>(outcome: T | 'root_replaced'): outcome is Exclude<T, 'root_replaced'> {
  return outcome !== 'root_replaced';
}
