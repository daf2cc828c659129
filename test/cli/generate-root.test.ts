import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, runJson, tempDir } from '../support/process.js';

test('keys generate-root creates a key in a file that only its owner can read, and never overwrites a file', async () => {
  const file = join(tempDir(), 'root.key');
  const made = await run(['keys', 'generate-root', file]);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toMatch(/^created .*root\.key\. Keep a copy/);
  expect(statSync(file).mode & 0o7777).toBe(0o600);
  const key = readFileSync(file, 'utf8');
  expect(key).toMatch(/^[0-9a-f]{64}\n$/);
  expect(made.stdout).not.toContain(key.trim());

  const again = await run(['keys', 'generate-root', file]);
  expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/already exists/) });
  expect(readFileSync(file, 'utf8')).toBe(key);
});

test('keys generate-root --json names the file; if the directory is missing, it names the command that creates the directory', async () => {
  const dir = tempDir();
  const file = join(dir, 'second.key');
  expect(await runJson(['keys', 'generate-root', file])).toEqual({ root_key_file: file });
  const ended = await run(['keys', 'generate-root', join(dir, 'none', 'root.key')]);
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/mkdir -p .*none/) });
});
