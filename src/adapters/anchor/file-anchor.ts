import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Anchor } from '../../ports/anchor.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { withinLimit } from '../shared/within-limit.js';

const lineStart = 0x7b;
const lineEnd = 0x0a;

/** How long a delivery may take, in ms. */
const usualLimitMs = 10_000;

/**
 * Appends each line, a JSON object, to a file. A new file is readable only by its owner. `deliver` resolves when the
 * line is on disk. Rejects if the file does not begin with `{`: the setting may name another file by mistake, such as
 * the root key, and a line appended to that file would damage it.
 *
 * A network file system that hangs can block an append forever. `deliver` then rejects after `limitMs`. Until the append
 * ends, `deliver` rejects immediately, because each append that hangs occupies one of the few threads for file access.
 */
export function fileAnchor(path: string, limitMs = usualLimitMs): Anchor {
  let isAppending = false;
  return {
    async deliver(line) {
      if (isAppending) throw new StoreUnavailable('audit anchor', 'no_answer');
      isAppending = true;
      const appended = append(path, line).finally(() => {
        isAppending = false;
      });
      await withinLimit('audit anchor', limitMs, appended);
    },
  };
}

async function append(path: string, line: string): Promise<void> {
  try {
    const file = await open(path, 'a+', 0o600);
    let isNew: boolean;
    try {
      const { size } = await file.stat();
      isNew = size === 0;
      if (!isNew && (await byteAt(file, 0)) !== lineStart) {
        throw new StoreUnavailable('audit anchor', 'not_an_anchor_file');
      }
      // A crash can leave an incomplete last line. That line stays unchanged, and the new line begins below it.
      const begin = isNew || (await byteAt(file, size - 1)) === lineEnd ? '' : '\n';
      await file.appendFile(`${begin}${line}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    // The name of a new file must reach the disk too. For later lines, this user may lack the right to read the
    // directory, and some network file systems cannot flush one.
    if (isNew) {
      const folder = await open(dirname(path), 'r');
      await folder.sync().finally(() => folder.close());
    }
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new StoreUnavailable('audit anchor', (error as NodeJS.ErrnoException).code ?? 'not_written');
  }
}

async function byteAt(file: FileHandle, position: number): Promise<number | undefined> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, position);
  return buffer[0];
}
