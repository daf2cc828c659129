import { openCiphertext, sealCiphertext } from '../events/sealing/ciphertext.js';
import type { KeyStore } from '../ports/key-store.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import { ownBuffer } from './random-key.js';

const place = { tenantId: '', stream: 'root', revision: 0, keyId: 'root', field: 'root-check' } as const;

/** Returns the root key's check: 16 zero bytes, sealed under the key. Every key store contains one. */
export function newRootCheck(rootKey: Buffer): Buffer {
  return sealCiphertext(rootKey, Buffer.alloc(16), place);
}

/** Returns whether the store's keys are wrapped under this root key. */
export function passesRootCheck(rootKey: Buffer, check: Buffer): boolean {
  return openCiphertext(rootKey, check, place) !== null;
}

/** Reads other candidates for the root key. The caller zeroes each of them. */
export type RootKeySource = () => Promise<readonly Buffer[]>;

/**
 * The root key in one process. Another process that shares the store may replace it at any time. `refresh` then reads
 * the new key from its source. The store rejects keys that were wrapped under the old root key in the meantime.
 */
export type RootKeys = {
  /** Runs `attempt` with the root key and returns its result, which is null if the ciphertext does not open. */
  open<T>(attempt: (rootKey: Buffer) => T | null): T | null;
  /**
   * Runs `wrapAndStore`, which stores a new key only if `check` is still the store's check. If another process has
   * replaced the root key, refreshes the root key and runs `wrapAndStore` again.
   */
  wrapping<T extends string>(
    wrapAndStore: (rootKey: Buffer, check: Buffer) => Promise<T | 'root_replaced'>,
  ): Promise<Exclude<T, 'root_replaced'>>;
  /**
   * Switches to `next` once `rewrap` has rewrapped and stored all keys under it. Returns false if `rewrap` changed
   * nothing. Throws StoreUnavailable if another process has replaced the root key.
   */
  replace(
    next: Buffer,
    rewrap: (rootKey: Buffer, check: Buffer, nextCheck: Buffer) => ReturnType<KeyStore['rotation']['replaceRoot']>,
  ): Promise<boolean>;
  /**
   * If another process has replaced the root key, switches to the new one. Throws StoreUnavailable if this process
   * cannot read the new root key yet.
   */
  refresh(): Promise<void>;
  /** Returns a copy of the root key. The caller zeroes it. */
  copy(): Buffer;
  /** Overwrites the root key in memory. After that, no key can be unwrapped. */
  close(): void;
};

/**
 * Returns the root key of a key store, which is either `rootKey` or a candidate from `source`. In a new store, stores
 * the check of `rootKey`. Throws the store's error if neither `rootKey` nor a candidate passes the store's check. Does
 * not keep the given buffer.
 */
export async function openRootKeys(store: KeyStore, rootKey: Buffer, source: RootKeySource): Promise<RootKeys> {
  const check = (await store.rootCheck()) ?? (await store.createRootCheck(newRootCheck(rootKey)));
  let present = { rootKey: ownBuffer(Buffer.from(rootKey)), check };
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one piece of work at a time, so that no new key is stored while the root key is being replaced. */
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  }

  function switchTo(next: Buffer, nextCheck: Buffer): void {
    present.rootKey.fill(0);
    present = { rootKey: ownBuffer(Buffer.from(next)), check: nextCheck };
  }

  /** Switches to the candidate that passes the check. Returns false if there is none. */
  async function find(wanted: Buffer): Promise<boolean> {
    const candidates = await source();
    const found = candidates.find((candidate) => passesRootCheck(candidate, wanted));
    if (found !== undefined) switchTo(found, wanted);
    for (const candidate of candidates) candidate.fill(0);
    return found !== undefined;
  }

  async function refresh(): Promise<void> {
    const stored = await store.rootCheck();
    if (stored?.equals(present.check)) return;
    if (stored === null || !(await find(stored))) throw new StoreUnavailable(store.name, 'root_key_replaced');
  }

  if (!passesRootCheck(rootKey, check) && !(await find(check))) {
    present.rootKey.fill(0);
    throw store.broken(
      `the root key is not the one that ${store.title} was created with. Name the right root key file.`,
    );
  }

  return {
    open: (attempt) => attempt(present.rootKey),
    refresh: () => alone(refresh),
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
    replace: (next, rewrap) =>
      alone(async () => {
        const nextCheck = newRootCheck(next);
        const outcome = await rewrap(present.rootKey, present.check, nextCheck);
        if (outcome === 'root_replaced') throw new StoreUnavailable(store.name, 'root_key_replaced');
        if (outcome === 'replaced') switchTo(next, nextCheck);
        return outcome === 'replaced';
      }),
  };
}

function isStored<T extends string>(outcome: T | 'root_replaced'): outcome is Exclude<T, 'root_replaced'> {
  return outcome !== 'root_replaced';
}
