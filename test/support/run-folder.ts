import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const prefix = 'strongroom-run-';

/** The folder for all temporary files in a run, including the files of processes that tests start. */
let folder: string | null = null;

export function setup(): void {
  // Every project calls this function, but all projects share one folder. Only the first call creates the folder.
  if (basename(tmpdir()).startsWith(prefix)) return;
  folder = mkdtempSync(join(tmpdir(), prefix));
  // The test for one docs page runs commands as a second user. That user must be able to read the folder.
  chmodSync(folder, 0o755);
  process.env['TMPDIR'] = folder;
}

/** Removes the temporary files, and prints which suites were not part of the run. */
export function teardown(): void {
  if (folder === null) return;
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const suites = readdirSync('test/cluster', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .sort();
  console.log(`Not run, because they need servers or long faults: test/cluster/{${suites.join(',')}}`);
  console.log('To run them: npm run test:cluster');
}
