import { rotateKeys } from '../../jobs/rotate-keys.js';
import type { KeyRotation } from '../../keys/key-ring.js';
import { RotationRefused } from '../../keys/rotation.js';
import type { WaitsFor } from '../../ports/store-unavailable.js';
import { fileErrorCode } from '../files/file-error-code.js';
import { hashOfFile, isReplaced, replaceRootKeyFile, takeNextRootKey } from '../root-key/next-root-key.js';
import type { RootKeyPlace } from '../root-key/root-key-place.js';

/**
 * The progress and the result of a rotation. `waits_for` is set while the rotation waits for a store: it is the store
 * and the reason why the store is unavailable. `root_key_file` is the file that contains the new root key after the
 * rotation, and `setting` is the setting that names this file. If `setting` is `next_root_key_file`, the operator must
 * still change the settings. `cleared` means that only the remains of an interrupted rotation were cleaned up.
 */
export type KeyRotationState =
  | { readonly state: 'none' }
  | {
      readonly state: 'running';
      readonly done: number;
      readonly total: number;
      readonly waits_for?: WaitsFor;
    }
  | {
      readonly state: 'rotated' | 'cleared';
      readonly root_key_file: string;
      readonly setting: 'root_key_file' | 'next_root_key_file';
    };

/** Runs key rotations in this process, one at a time. */
export type KeyRotationWork = {
  /** Starts a rotation, or continues an interrupted one. Does nothing if a rotation is already running. */
  start(): void;
  /** Returns the progress. If the rotation has failed, throws its error. */
  state(): KeyRotationState;
};

/**
 * Creates the rotation work. If `mayMakeNext` is true, this process may create the next root key. This is safe only if
 * no other process needs that key. `onRotated` is called once the old root key no longer wraps any key. It must not
 * throw. If an earlier run was interrupted before it could call `onRotated`, it is called only if this process also
 * replaces the root key's file. Otherwise, an interrupted run cannot be distinguished from one that is complete.
 */
export function createKeyRotationWork(
  rotation: KeyRotation,
  place: RootKeyPlace,
  mayMakeNext: boolean,
  onRotated: () => Promise<void>,
): KeyRotationWork {
  let present: KeyRotationState = { state: 'none' };
  let failure: unknown = null;

  async function run(): Promise<void> {
    const { nextFile } = place;
    const file = place.file !== null && isReplaced(place.file) ? place.file : null;
    const next = takeNextRootKey(place, mayMakeNext);
    let isRotated = false;
    if (next !== null && nextFile !== null) {
      try {
        const before = file === null ? null : hashOfFile(file);
        isRotated = await rotateKeys(rotation, next, ({ done, total, waitsFor }) => {
          present = {
            state: 'running',
            done,
            total,
            ...(waitsFor && { waits_for: { store: waitsFor.store, reason: waitsFor.reason } }),
          };
        });
        if (file !== null && before !== null) replaceRootKeyFile(file, nextFile, next, before);
      } finally {
        next.fill(0);
      }
    }
    // The last step of a rotation that replaces the file removes the next root key. A process that is alone and finds
    // this key at the end of a rotation completes an interrupted run, which could not call `onRotated`.
    if (isRotated || (mayMakeNext && file !== null)) await onRotated();
    present = {
      state: isRotated ? 'rotated' : 'cleared',
      root_key_file: file ?? nextFile ?? '',
      setting: file === null ? 'next_root_key_file' : 'root_key_file',
    };
  }

  return {
    start() {
      if (present.state === 'running') return;
      failure = null;
      present = { state: 'running', done: 0, total: 0 };
      run().catch((error: unknown) => {
        failure = fileFault(error, place);
        present = { state: 'none' };
      });
    },
    state() {
      if (failure !== null) throw failure;
      return present;
    },
  };
}

/** Returns the message for the operator if an operation on a root key file failed. Otherwise returns the error. */
function fileFault(error: unknown, { file, nextFile }: RootKeyPlace): unknown {
  const code = fileErrorCode(error);
  if (code === null) return error;
  const files = [file, nextFile].filter((path) => path !== null).join(' and ');
  return new RotationRefused(
    `the files of the root key could not be read or written (${code}): ${files}. Keep them all, because one of them ` +
      'contains the key that opens the data. Check the disk, then run the command again: it continues the rotation.',
  );
}
