import type { Caller } from '../domain/access/caller.js';
import type { Json, JsonObject } from '../domain/json.js';
import type { OnProgress } from './tasks.js';

/** The operations of the command line that pages use, besides what `Service` offers. */
export type OperationNeeded = 'diagnose' | 'keys-rotate' | 'keys-rotation' | 'webhooks-replay';

export type OperationOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

/** What a bundle of evidence is about: tokens, or everything of the tenant in a period (ms since the epoch). */
export type BundleScope = {
  readonly ids: readonly string[] | null;
  readonly from: number | null;
  readonly to: number | null;
};

/** The files of a bundle, in a folder that `remove` deletes. */
export type Bundle = {
  readonly folder: string;
  readonly files: readonly string[];
  remove(): Promise<void>;
};

/**
 * Runs what the command of the same name runs. `cli/serve/console.ts` provides it, because operations belong to the
 * command line. A page that reads a result checks it.
 */
export type Operations = {
  run(name: OperationNeeded, input: Json): Promise<OperationOutcome<Json>>;
  /** Verifies the log, the access log and the rows (`strongroom audit verify`). Returns its summary. */
  verify(onProgress: OnProgress): Promise<OperationOutcome<JsonObject>>;
  /** Makes a bundle of evidence (`strongroom audit bundle`). */
  bundle(caller: Caller, scope: BundleScope, onProgress: OnProgress): Promise<OperationOutcome<Bundle>>;
};
