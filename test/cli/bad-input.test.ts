import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tamperBehindTriggers } from '../erasure/support.js';
import { openVault } from '../rebuild/support.js';
import { makeVault, run, runJson, tempDir } from '../support/process.js';

test('invalid input is reported with the right exit code, and nothing changes', async () => {
  const { dir, dataDir, flags, key, managementKey } = await makeVault();
  const keyFile = join(dir, 'private.key');
  const managementFile = join(dir, 'management.key');
  writeFileSync(keyFile, key, { mode: 0o600 });
  writeFileSync(managementFile, managementKey, { mode: 0o600 });
  const as = ['--api-key-file', keyFile, ...flags];
  const log = join(dir, 'log.jsonl');
  await runJson(['audit', 'export', '--out', log, ...flags]);
  const damaged = join(dir, 'damaged.jsonl');
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  writeFileSync(damaged, [lines[0], lines[1]?.slice(0, 40), ...lines.slice(2), ''].join('\n'));
  const cut = join(dir, 'cut.jsonl');
  writeFileSync(cut, `${lines.slice(0, -1).join('\n')}\n`);

  /**
   * Returns the events, the token rows and the file names. Recorded key uses and denials are stored elsewhere, so they
   * are not included.
   */
  const stored = () => {
    const vault = openVault(dataDir);
    try {
      const [events, rows] = ['events ORDER BY position', 'token_rows_1 ORDER BY row'].map((of) =>
        vault.prepare(`SELECT * FROM ${of}`).all(),
      );
      return { events, rows, files: readdirSync(dir) };
    } finally {
      vault.close();
    }
  };
  const refused = async (args: readonly string[], code: number, text: string | RegExp) => {
    const before = stored();
    const { stderr, ...ended } = await run(args);
    expect(ended, `${args.join(' ')}: ${stderr}`).toMatchObject({ code, stdout: '' });
    expect(stderr).toMatch(text);
    expect(stderr).not.toContain('unexpected error');
    expect(stored(), args.join(' ')).toEqual(before);
  };
  await refused(
    ['audit', 'history', 'nobody', '--api-key-file', managementFile, ...flags],
    1,
    /no such token|not found/,
  );
  await refused(
    ['audit', 'erasure', 'nobody', '--api-key-file', managementFile, ...flags],
    1,
    /no such token|not found/,
  );
  await refused(
    ['audit', 'replay', '--as-of', '1', '--token', 'nobody', ...as],
    1,
    'the token did not exist at that moment',
  );
  for (const asOf of ['banana', '-1', '0', '2026-02-30']) {
    await refused(['audit', 'replay', '--as-of', asOf, '--token', 'nobody', ...as], 2, '--as-of must be a position');
  }
  const nofile = join(dir, 'nofile');
  await refused(['tokens', 'import', nofile, ...as], 1, 'cannot be read (ENOENT). There is no such file.');
  await refused(
    ['audit', 'export', '--out', join(nofile, 'x'), ...flags],
    1,
    'cannot be written (ENOENT). Its directory does not exist.',
  );
  await refused(['audit', 'replay', '--as-of', '2100-01-01', '--token', 'nobody', ...as], 1, 'is in the future');
  await refused(['audit', 'replay', '--as-of', '100000', '--token', 'nobody', ...as], 1, 'after the end of the log');
  await refused(
    ['audit', 'export', '--from', '100000', '--out', join(dir, 'none'), ...flags],
    1,
    'after the end of the log',
  );
  await refused(
    ['audit', 'export', '--to', '100000', '--out', join(dir, 'none'), ...flags],
    1,
    'after the end of the log',
  );
  await refused(['audit', 'verify', '--offline', damaged], 3, 'is damaged in line 2');
  await refused(['audit', 'verify', '--offline', cut], 3, 'its end is missing');
  await refused(['audit', 'verify', '--offline', keyFile], 1, 'is not a log export');

  await run(['tokens', 'create', ...as], { stdin: '{"id":"changed","type":"token","data":"x"}' });
  expect(tamperBehindTriggers(dataDir, 'vault.db', `UPDATE events SET version = 2 WHERE type = 'token.created'`)).toBe(
    1,
  );
  const forged = /changed the log: the event at position \d+ .* has no valid authentication code/;
  await refused(
    ['audit', 'replay', '--as-of', String(stored().events?.length), '--token', 'changed', ...as],
    1,
    forged,
  );
  await refused(['tokens', 'delete', 'changed', ...as], 1, forged);
  await refused(['projections', 'rebuild', 'tokens', '--yes', ...flags], 1, forged);
});

test('without an API key, a command reports a missing data directory before it asks for the key', async () => {
  const { dir, flags } = await makeVault();
  const file = join(dir, 'import.ndjson');
  writeFileSync(file, '{"id":"a-token","type":"token","data":"x"}\n');
  const commands = [
    ['tokens', 'import', file],
    ['tokens', 'export', '--out', join(dir, 'export'), '--plaintext'],
    ['tokens', 'get', 'a-token'],
    ['audit', 'history', 'a-token'],
  ];
  for (const args of commands) {
    const absent = await run([...args, '--data', join(dir, 'absent')]);
    expect(absent, args.join(' ')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^there is no vault in \S+absent\. Create one with `strongroom init`/),
    });
    const present = await run([...args, ...flags]);
    expect(present, args.join(' ')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^specify the API key/) });
  }
});

test('a file with an API key or headers that other users can access is rejected, without quoting it', async () => {
  const { dir, flags, key } = await makeVault();
  const [keyFile, headerFile] = [join(dir, 'app.key'), join(dir, 'siem headers')];
  writeFileSync(keyFile, key);
  writeFileSync(headerFile, `X-Siem: ${key}\n`);
  const get = ['tokens', 'get', 'a-token', '--api-key-file', keyFile, ...flags];
  const to = ['--to-url', 'https://siem.example/', '--header-file', headerFile, '--checkpoint', join(dir, 'c')];
  for (const mode of [0o644, 0o640, 0o602]) {
    for (const [file, args, command] of [
      [keyFile, get, `chmod 600 ${keyFile}`],
      [headerFile, ['audit', 'stream', ...to, '--once', ...flags], `chmod 600 '${headerFile}'`],
    ] as const) {
      chmodSync(file, mode);
      const ended = await run([...args]);
      expect(ended, args.join(' ')).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toMatch(/must be accessible to its owner only: mode 0600 or 0400\. Run: /);
      expect(ended.stderr.trimEnd().endsWith(`Run: ${command}`), ended.stderr).toBe(true);
      expect(ended.stderr).not.toContain(key);
    }
  }
  for (const mode of [0o600, 0o400]) {
    chmodSync(keyFile, mode);
    expect(await run(get), `${mode}`).toMatchObject({ code: 1, stderr: expect.stringContaining('no such token') });
  }
});

test.runIf(process.getuid?.() === 0)(
  'an API key in a file of another user is read, because only that user can change its mode (needs root)',
  async () => {
    const { dir, flags, key } = await makeVault();
    const keyFile = join(dir, 'app.key');
    writeFileSync(keyFile, key);
    chownSync(keyFile, 1, 1);
    const ended = await run(['tokens', 'get', 'a-token', '--api-key-file', keyFile, ...flags]);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('no such token') });
  },
);

test('a list of erased keys of a data directory that is missing, or contains no vault, is not written', async () => {
  const dir = tempDir();
  const list = join(dir, 'erased.txt');
  for (const dataDir of [join(dir, 'absent'), dir]) {
    const ended = await run(['backup', list, '--erased-only', '--data', dataDir]);
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`there is no vault in ${dataDir}. Create`),
    });
  }
  expect(readdirSync(dir)).toEqual([]);
});

test('a command that cannot write to standard output rejects - as the name of its output', async () => {
  const { dir, flags, managementKey } = await makeVault();
  const keyFile = join(dir, 'management.key');
  writeFileSync(keyFile, managementKey, { mode: 0o600 });
  const before = readdirSync(dir);
  const commands = [
    ['audit', 'export', '--out', '-'],
    ['audit', 'export', '--format', 'csv', '--out', '-'],
    ['audit', 'bundle', '--from', '2026-01-01', '--to', '2099-01-01', '--out', '-', '--api-key-file', keyFile],
    ['backup', '-', '--erased-only'],
  ];
  for (const args of commands) {
    const ended = await run([...args, ...flags], { cwd: dir });
    const text = 'this command cannot write to standard output (-). Specify the name of a new file or directory.\n';
    expect(ended, args.join(' ')).toMatchObject({ code: 2, stdout: '', stderr: text });
  }
  expect(readdirSync(dir)).toEqual(before);
});

test('a damaged file of --dev keys, and a manifest that cannot be read, are reported with their paths', async () => {
  const { dir, dataDir, flags } = await makeVault();
  const devKeys = join(dataDir, 'dev-keys.json');
  for (const content of ['{"quickstart_key":', '[]', 'null']) {
    writeFileSync(devKeys, content, { mode: 0o600 });
    expect(await run(['tokens', 'get', 'a-token', ...flags]), content).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${devKeys} contains no quickstart key; specify the API key: --api-key-file`),
    });
  }
  const manifest = join(dir, 'backup', 'manifest.json');
  mkdirSync(manifest, { recursive: true });
  const files = ['--identity', devKeys, '--erased', devKeys, '--data', join(dir, 'restored')];
  expect(await run(['restore', join(dir, 'backup'), ...files])).toMatchObject({
    code: 1,
    stderr: `${manifest} cannot be read (EISDIR). It is a directory, not a file. Check the path.\n`,
  });
});
