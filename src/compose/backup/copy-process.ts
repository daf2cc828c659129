import { copyData } from '../../adapters/sqlite/backup/copy-data.js';
import { type FoundProblem, StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';

/** What the process sends when it has finished. Errors contain no text that could quote data. */
export type CopyResult =
  | { readonly ok: true; readonly names: readonly string[] }
  | {
      readonly ok: false;
      readonly error:
        | { readonly is: 'problem'; readonly message: string }
        | {
            readonly is: 'unavailable';
            readonly store: string;
            readonly reason: string;
            readonly found: FoundProblem | null;
          }
        | { readonly is: 'unforeseen'; readonly name: string; readonly code: string };
    };

/** Runs in the process that `copyStoreFiles` starts. Copies the files of a data directory to another directory. */
function copy(dataDir: string, to: string): CopyResult {
  try {
    return { ok: true, names: copyData(dataDir, to) };
  } catch (error) {
    if (error instanceof StoreProblem) return { ok: false, error: { is: 'problem', message: error.message } };
    if (error instanceof StoreUnavailable) {
      const { store, reason, found } = error;
      return { ok: false, error: { is: 'unavailable', store, reason, found } };
    }
    const { name, code = '' } = error as NodeJS.ErrnoException;
    return { ok: false, error: { is: 'unforeseen', name, code } };
  }
}

const [, , dataDir, to] = process.argv;
if (process.send !== undefined && dataDir !== undefined && to !== undefined) {
  process.send(copy(dataDir, to), () => process.disconnect());
}
