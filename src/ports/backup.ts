import { StoreProblem } from './store-problem.js';

/** Keys that were destroyed up to a time (ms), those of tenants among them: what may never open again. */
export type ErasedKeys = { readonly ids: ReadonlySet<string>; readonly madeAt: number };

/** A key store while it is read for a backup; it goes on being used. */
export type KeysToCopy = {
  /** The log that the keys belong to. */
  logId(): Promise<string>;
  /** Every row as a line of text. Throws BackupRefused while a rotation is under way. */
  lines(): AsyncIterable<string>;
  /** Ids of all keys that were destroyed. */
  erased(): AsyncIterable<string>;
  /** Records that a whole backup was begun at this time (ms), where the service reads it for its metrics. */
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

/** Is called with the name of each phase of a backup or a restore when it begins. */
export type OnPhase = (phase: string) => void;
