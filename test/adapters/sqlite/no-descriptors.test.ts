import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/** This program uses up all file descriptors, so it runs in a separate process. */
const program = `
  import Database from 'better-sqlite3';
  import { openSync } from 'node:fs';
  import { databaseError } from '#src/adapters/sqlite/database/database-error.js';
  new Database(process.argv[1]).exec('CREATE TABLE IF NOT EXISTS t (x)');
  try { for (;;) openSync('/dev/null'); } catch {}
  let error = null;
  try { new Database(process.argv[1]); } catch (thrown) { error = databaseError(thrown, 'vault.db'); }
  console.log(JSON.stringify({ name: error?.name, reason: error?.reason }));
`;

test('if a file cannot be opened for lack of file descriptors, its store is unavailable, not broken', () => {
  const file = join(tmpdir(), `strongroom-descriptors-${process.pid}.db`);
  onTestFinished(() => rmSync(file, { force: true }));
  const args = ['--input-type=module', '-e', program, file];
  const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -n 64 && exec "$0" "$@"', process.execPath, ...args], {
    cwd: new URL('../../..', import.meta.url),
    encoding: 'utf8',
  });
  expect(stdout, stderr).toBe('{"name":"StoreUnavailable","reason":"no_file_descriptors"}\n');
});
