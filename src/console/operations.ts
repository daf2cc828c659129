import type { Json } from '../domain/json.js';

/** The operations of the command line that pages for operators use, besides what `Service` offers. */
export type OperationNeeded = 'diagnose' | 'keys-rotate' | 'keys-rotation' | 'rows-check' | 'webhooks-replay';

/**
 * Runs an operation as the command of the same name does. `cli/serve/console.ts` provides it, because operations belong
 * to the command line. The result is checked by the page that reads it.
 */
export type Operations = {
  run(
    name: OperationNeeded,
    input: Json,
  ): Promise<{ readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string }>;
};
