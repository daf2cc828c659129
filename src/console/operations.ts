import type { Caller } from '../domain/access/caller.js';
import type { Json, JsonObject } from '../domain/json.js';

/** The CLI operations that pages use in addition to `Service`. */
export type OperationNeeded = 'diagnose' | 'keys-rotate' | 'keys-rotation' | 'webhooks-replay';

/** Reports the progress of an operation. */
export type OnProgress = (done: number, total: number) => void;

export type OperationOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

/**
 * The scope of an evidence bundle: either specific tokens, or all events of the tenant in a period. Times are in ms
 * since the epoch.
 */
export type BundleScope = {
  readonly ids: readonly string[] | null;
  readonly from: number | null;
  readonly to: number | null;
  /**
   * `reject` if the session is not an operator's. A bundle about an erased token then fails. Threat: a tenant learns from
   * the statements of erasure how many search terms all tenants have in total, and each statement requires reading all
   * of them.
   */
  readonly erasures: 'state' | 'reject';
};

/** The folder with the files of a bundle. `remove` deletes this folder. */
export type Bundle = {
  readonly folder: string;
  readonly files: readonly string[];
  remove(): Promise<void>;
};

/**
 * Operations that run the same code as the CLI commands. That code is part of the CLI, so
 * `cli/serve/console-listener.ts` provides the operations. A page validates each result before it uses the result.
 */
export type Operations = {
  run(name: OperationNeeded, input: Json): Promise<OperationOutcome<Json>>;
  /**
   * Verifies the log, the access log and the rows, like `strongroom audit verify`. Returns the same summary as that
   * command.
   */
  verify(onProgress: OnProgress): Promise<OperationOutcome<JsonObject>>;
  /** Creates an evidence bundle, like `strongroom audit bundle`. */
  bundle(caller: Caller, scope: BundleScope, onProgress: OnProgress): Promise<OperationOutcome<Bundle>>;
};
