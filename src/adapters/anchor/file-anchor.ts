import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Anchor } from '../../ports/anchor.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';

const lineEnd = 0x0a;

/**
 * Appends each line to a file. A new file is readable only by its owner. `deliver` resolves when the line is on disk.
 */
export function fileAnchor(path: string): Anchor {
  return {
    async deliver(line) {
      try {
        const file = await open(path, 'a+', 0o600);
        let isNew: boolean;
        try {
          isNew = (await file.stat()).size === 0;
          // A crash can leave an incomplete last line. That line stays unchanged, and the new line begins below it.
          const begin = (await endsWithLine(file)) ? '' : '\n';
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
        throw new StoreUnavailable('audit anchor', (error as NodeJS.ErrnoException).code ?? 'not_written');
      }
    },
  };
}

async function endsWithLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === lineEnd;
}
