import type { Caller } from '../domain/access/caller.js';
import type { Json, JsonObject } from '../domain/json.js';
import type { OnProgress } from './tasks.js';

/** The command line operations that pages use in addition to `Service`. */
export type OperationNeeded = 'diagnose' | 'keys-rotate' | 'keys-rotation' | 'webhooks-replay';

export type OperationOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

/** The scope of an evidence bundle: certain tokens, or all tenant activity in a period (ms since the epoch). */
export type BundleScope = {
  readonly ids: readonly string[] | null;
  readonly from: number | null;
  readonly to: number | null;
};

/** A bundle's files, in a folder that `remove` deletes. */
export type Bundle = {
  readonly folder: string;
  readonly files: readonly string[];
  remove(): Promise<void>;
};

/**
 * Operations that run the same code as the commands of the same name. `cli/serve/console.ts` provides them, because
 * operations belong to the command line. A page that reads a result validates it.
 */
export type Operations = {
  run(name: OperationNeeded, input: Json): Promise<OperationOutcome<Json>>;
  /** Verifies the log, the access log and the rows (`strongroom audit verify`). Returns its summary. */
  verify(onProgress: OnProgress): Promise<OperationOutcome<JsonObject>>;
  /** Creates an evidence bundle (`strongroom audit bundle`). */
  bundle(caller: Caller, scope: BundleScope): Promise<OperationOutcome<Bundle>>;
};
