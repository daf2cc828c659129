import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { writeErasedList } from '#src/cli/backup/write-backup.js';
import { loadConfig } from '#src/compose/config/config.js';
import { makeVault, tempDir } from '../support/process.js';

async function vaultAndTarget() {
  const { dataDir, rootKeyFile } = await makeVault();
  const loaded = loadConfig({ env: {}, flags: { data: dataDir, rootKeyFile } });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const folder = tempDir();
  return { config: loaded.config, rootKeyFile, folder, out: join(folder, 'erased.txt') };
}

/** Returns the paths that are flushed to disk from now on, in order. */
async function flushedPaths(anyFile: string): Promise<readonly string[]> {
  const handle = await open(anyFile, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { sync } = prototype;
  const paths: string[] = [];
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    paths.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  return paths;
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
    const { config, rootKeyFile, folder, out } = await vaultAndTarget();
    const flushed = await flushedPaths(rootKeyFile);
    await writeErasedList(config, out);
    const inFolder = flushed.filter((path) => path.startsWith(folder));
    expect(inFolder).toEqual([expect.stringMatching(/erased\.txt\.part-/), folder]);
  },
);
