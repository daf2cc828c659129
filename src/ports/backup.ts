import { StoreProblem } from './store-problem.js';

/** Keys that were destroyed up to a time (ms), including those of tenants. They must never open anything again. */
export type ErasedKeys = { readonly ids: ReadonlySet<string>; readonly madeAt: number };

/** A key store that is read for a backup while it stays in use. */
export type KeysToCopy = {
  /** The log that the keys belong to. */
  logId(): Promise<string>;
  /** Every row as a line of text. Throws BackupRefused while a rotation is under way. */
  lines(): AsyncIterable<string>;
  /** The ids of all keys that were destroyed. */
  erased(): AsyncIterable<string>;
  /** Records that a complete backup was begun at this time (ms), where the service reads it for its metrics. */
  recordBackup(madeAt: number): Promise<void>;
  close(): Promise<void> | void;
};

/** Why nothing was backed up or restored, and what to do. */
export class BackupRefused extends StoreProblem {
  constructor(message: string) {
    super(message);
    this.name = 'BackupRefused';
  }
}

/** Called with the name of each phase of a backup or a restore when the phase begins. */
export type OnPhase = (phase: string) => void;
