import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { writeErasedList } from '#src/cli/backup/write-backup.js';
import { loadConfig } from '#src/compose/config/config.js';
import { flushedPaths } from '../support/flushed-paths.js';
import { makeVault, tempDir } from '../support/process.js';

async function vaultAndTarget() {
  const { dataDir, rootKeyFile } = await makeVault();
  const loaded = loadConfig({ env: {}, flags: { data: dataDir, rootKeyFile } });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const folder = tempDir();
  return { config: loaded.config, folder, out: join(folder, 'erased.txt') };
}

test('a list of erased keys never replaces a file that appeared while the list was written', async () => {
  const { config, folder, out } = await vaultAndTarget();
  const written = writeErasedList(config, out).then(
    () => 'written',
    (error: Error) => error.message,
  );
  while (readdirSync(folder).length === 0) await turn();
  writeFileSync(out, 'the list of another command');
  expect(await written).toBe(`${out} already exists; nothing was changed. Choose another name.`);
  expect(readFileSync(out, 'utf8')).toBe('the list of another command');
  expect(readdirSync(folder)).toEqual(['erased.txt']);
});

test.runIf(process.platform === 'linux')(
  'a list of erased keys has its name on disk when the command ends: the file and then its directory are flushed',
  async () => {
    const { config, folder, out } = await vaultAndTarget();
    const flushed = await flushedPaths((path) => [path, existsSync(out)]);
    await writeErasedList(config, out);
    const part = expect.stringMatching(/erased\.txt\.part-/);
    expect(flushed.filter(([path]) => String(path).startsWith(folder))).toEqual([
      [part, false],
      [folder, true],
    ]);
  },
);
