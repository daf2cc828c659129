import { StoreProblem } from './store-problem.js';

/**
 * The ids of the data keys, and of the keys of deleted tenants, that had been destroyed by `madeAt` (ms), the time when
 * the list was made. These keys must never decrypt anything again.
 */
export type ErasedKeys = { readonly ids: Pick<ReadonlySet<string>, 'has'>; readonly madeAt: number };

/** A key store that a backup reads while the store remains in use. */
export type KeysToCopy = {
  /** Returns the id of the log that the keys belong to. */
  logId(): Promise<string>;
  /** Yields every row as a line of text. Throws BackupRefused while a rotation is in progress. */
  lines(): AsyncIterable<string>;
  /**
   * Throws BackupRefused if the keys have been rotated since `lines` began, or are being rotated or restored. Call this
   * after `lines`.
   */
  expectNotRotated(): Promise<void>;
  /**
   * Yields the ids of all destroyed data keys, and of the destroyed keys of deleted tenants. Omits the wrapping keys that
   * a rotation has replaced. A rotation erases nothing, and what was erased otherwise has a data key in the list (ADR 30).
   */
  erased(): AsyncIterable<string>;
  /** Records the start time (ms) of a complete backup. The service reports this time in its metrics. */
  recordBackup(madeAt: number): Promise<void>;
  close(): Promise<void> | void;
};

/** The file of a backup that contains the encrypted keys. A data directory has no file with this name. */
export const keysFile = 'keys.age';

/** Thrown when a backup or restore is refused. The message states the reason and how to proceed. */
export class BackupRefused extends StoreProblem {
  constructor(message: string) {
    super(message);
    this.name = 'BackupRefused';
  }
}

/** Called at the start of each phase of a backup or restore, with the name of the phase. */
export type OnPhase = (phase: string) => void;
