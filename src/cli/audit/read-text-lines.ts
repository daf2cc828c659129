import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { unreadable } from '../file-fault.js';

/** Yields the lines of a file. Throws Failure if the file cannot be read. */
export async function* readLines(path: string): AsyncGenerator<string> {
  const stream = createReadStream(path, 'utf8');
  const failed = new Promise<never>((_, reject) => {
    stream.once('error', (error: NodeJS.ErrnoException) => reject(unreadable(path, error)));
  });
  // This promise may reject while no code is waiting for a line. Without a handler, that rejection would end the
  // process.
  failed.catch(() => undefined);
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await Promise.race([lines.next(), failed]);
      if (done === true) return;
      yield value;
    }
  } finally {
    stream.destroy();
  }
}
