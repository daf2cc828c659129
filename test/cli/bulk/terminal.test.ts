import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { manyLines, marker, vaultWithKeyFile } from './support.js';

const program = fileURLToPath(new URL('../../../dist/bin/strongroom.js', import.meta.url));
/** True if the program `script` from util-linux is available. It runs a program in a terminal. */
const hasScript = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') ?? false;

function onTerminal(args: readonly string[]) {
  const command = [process.execPath, program, ...args].map((word) => `'${word}'`).join(' ');
  const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' });
  return { status, stdout };
}

test.runIf(hasScript)('a terminal shows a progress bar, and an export refuses to write to a terminal', async () => {
  const { args, dir } = await vaultWithKeyFile();
  const file = join(dir, 'in.ndjson');
  writeFileSync(file, manyLines(1_500));
  const imported = onTerminal(['tokens', 'import', file, ...args]);
  expect(imported.status).toBe(0);
  expect(imported.stdout).toMatch(/\[#*-*\] [\d,]+ lines?, \d+%, [\d,]+\/s/);
  expect(imported.stdout).not.toMatch(/100%|\b0 s left/);
  expect(imported.stdout).toContain('created 1,500, skipped 0, deduplicated 0, failed 0');
  expect(imported.stdout).not.toContain(marker);
  const exported = onTerminal(['tokens', 'export', '--out', '-', '--plaintext', ...args]);
  expect(exported).toMatchObject({ status: 2, stdout: expect.stringMatching(/standard output is a terminal/) });
});
