import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Opens a file that contains one line per append, so a torn write loses a whole append, never a part of one. `write`
 * resolves once the lines are on disk.
 * @param {string} directory
 */
export async function openJournal(directory, name = 'appends.jsonl') {
  await mkdir(directory, { recursive: true });
  const path = join(directory, name);
  const file = await open(path, 'a');
  const text = await readFile(path, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  await file.truncate(Buffer.byteLength(whole));

  return {
    /** @type {readonly unknown[]} */
    recovered: whole
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
    /** @param {readonly unknown[]} appends */
    async write(appends) {
      await file.appendFile(appends.map((append) => `${JSON.stringify(append)}\n`).join(''));
      await file.datasync();
    },
  };
}
