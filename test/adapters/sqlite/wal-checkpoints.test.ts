import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type FromBackground, startBackground } from '#src/adapters/sqlite/writer/background.js';
import { prepareStores } from '#src/adapters/sqlite/writer/prepare-stores.js';
import { tempDir } from '../../support/process.js';

test.each(['vault.db', 'journal.db'] as const)(
  'another thread copies the write-ahead log into %s while the writer has the file open',
  async (file) => {
    const dataDir = tempDir();
    const { vault, keys, journal } = prepareStores(dataDir);
    const path = join(dataDir, file);
    const { 'vault.db': change, 'journal.db': append } = {
      'vault.db': `INSERT INTO claims VALUES ('copied-by-the-thread', 0, '', x'00'); UPDATE applied SET sequence = 7`,
      'journal.db': `INSERT INTO batches VALUES (1, x'00', x'00', 'copied-by-the-thread')`,
    };
    if (file === 'vault.db') vault.exec(change);
    else journal.exec(append);
    expect(readFileSync(path, 'latin1')).not.toContain('copied-by-the-thread');

    const done: FromBackground[] = [];
    const background = startBackground(
      dataDir,
      (each) => done.push(each),
      (error) => {
        throw error;
      },
    );
    await vi.waitFor(
      () => {
        background.note(file, 8 * 1024 * 1024);
        expect(readFileSync(path, 'latin1')).toContain('copied-by-the-thread');
      },
      { timeout: 30_000 },
    );
    await background.close();
    // A checkpoint of vault.db also reports the last journal group whose changes are durable in the file. Checkpoints
    // of other files report null.
    expect(done[0]).toEqual({ task: 'checkpoint', file, applied: file === 'vault.db' ? 7 : null });
    for (const database of [vault, keys, journal]) database.close();
  },
);
