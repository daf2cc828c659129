import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, runJson, tempDir } from '../support/process.js';

const env = {
  STRONGROOM_PORT: '9000',
  STRONGROOM_AUTH_HEADER_ALIASES: 'X-API-KEY,Y-API-KEY',
  STRONGROOM_ROOT_KEY_COMMAND: '["vault","read","--token=marker-1"]',
};

test('config print shows each setting with its source and replaces secrets, and the later source wins', async () => {
  const file = join(tempDir(), 'settings.json');
  writeFileSync(file, JSON.stringify({ port: 7000, log_level: 'warn', cvc: { retention_seconds: 60 } }));
  const args = ['config', 'print', '--config', file, '--log-level', 'error'];
  const printed = await runJson(args, { env });
  expect(printed).toMatchObject({
    host: { value: '127.0.0.1', source: 'default' },
    port: { value: 9000, source: 'environment' },
    log_level: { value: 'error', source: 'flag' },
    'cvc.retention_seconds': { value: 60, source: 'file' },
    'auth.header_aliases': { value: ['x-api-key', 'y-api-key'], source: 'environment' },
    root_key_command: { value: '[hidden]', source: 'environment' },
  });
  const text = await run(args, { env });
  expect(text).toMatchObject({ code: 0, stderr: '' });
  expect(text.stdout).toMatch(/^SETTING +SOURCE +VALUE\n/);
  expect(text.stdout).toMatch(/^root_key_file +default +-$/m);
  expect(text.stdout).toMatch(/^port +environment +9000$/m);
  expect(text.stdout).toMatch(/^log_level +flag +error$/m);
  expect(text.stdout).not.toContain('marker-1');
});

test('the flag of a boolean setting may have a value', async () => {
  const env = { STRONGROOM_AUTH_BEARER: 'true', STRONGROOM_CONTAINER: 'true' };
  const flags = ['--dev', '--auth-bearer', 'false', '--container=false', '--insecure-stores', 'true'];
  expect(await runJson(['config', 'print', ...flags], { env })).toMatchObject({
    dev: { value: true, source: 'flag' },
    'auth.bearer': { value: false, source: 'flag' },
    container: { value: false, source: 'flag' },
    insecure_stores: { value: true, source: 'flag' },
  });
});

test('the user and password in anything that looks like a URL are replaced', async () => {
  const args = ['config', 'print', '--data', 'https://user:marker-2@host/path'];
  const both = [await run(args), await run([...args, '--json'])];
  for (const { code, stdout } of both) {
    expect(code).toBe(0);
    expect(stdout).toContain('https://[hidden]@host/path');
    expect(stdout).not.toContain('marker-2');
  }
});
