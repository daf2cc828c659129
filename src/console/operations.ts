import type { Caller } from '../domain/access/caller.js';
import type { Json, JsonObject } from '../domain/json.js';
import type { OnProgress } from './tasks.js';

/** The operations of the command line that pages use in addition to `Service`. */
export type OperationNeeded = 'diagnose' | 'keys-rotate' | 'keys-rotation' | 'webhooks-replay';

export type OperationOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

/**
 * The scope of an evidence bundle: either certain tokens, or everything that happened in the tenant in a period. Times
 * are in ms since the epoch.
 */
export type BundleScope = {
  readonly ids: readonly string[] | null;
  readonly from: number | null;
  readonly to: number | null;
};

/** The files of a bundle. `remove` deletes the folder that contains them. */
export type Bundle = {
  readonly folder: string;
  readonly files: readonly string[];
  remove(): Promise<void>;
};

/**
 * Operations that run the same code as the commands with the same names. `cli/serve/console.ts` provides them, because
 * operations belong to the command line. A page that reads a result validates it first.
 */
export type Operations = {
  run(name: OperationNeeded, input: Json): Promise<OperationOutcome<Json>>;
  /**
   * Verifies the log, the access log and the rows, like `strongroom audit verify`. Returns the summary of that command.
   */
  verify(onProgress: OnProgress): Promise<OperationOutcome<JsonObject>>;
  /** Creates an evidence bundle, like `strongroom audit bundle`. */
  bundle(caller: Caller, scope: BundleScope, onProgress: OnProgress): Promise<OperationOutcome<Bundle>>;
};
