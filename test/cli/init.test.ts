import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeDataDirectory } from '#src/compose/embedded/data-directory.js';
import { flushedPaths } from '../support/flushed-paths.js';
import { hashesOf, http, makeRootKey, makeVault, run, runJson, startService, tempDir } from '../support/process.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const managementKey = /^sr_management_[0-9A-Za-z]{49,}$/;

test('init --json prints exactly the tenant and the key; a second init fails and changes no byte', async () => {
  const dir = tempDir();
  const flags = ['--data', join(dir, 'data'), '--root-key-file', makeRootKey(dir)];
  const first = await run(['init', ...flags, '--json']);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(first.stdout)).toEqual({
    tenant_id: expect.stringMatching(uuid),
    management_key: expect.stringMatching(managementKey),
  });

  const before = hashesOf(dir);
  const second = await run(['init', ...flags, '--json']);
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(second.stderr).toMatch(/already initialized.*strongroom tenants create/);
  expect(hashesOf(dir)).toEqual(before);
});

test('without --json, init prints text, and only the owner can read the files that it creates', async () => {
  const dir = tempDir();
  const dataDir = join(dir, 'a', 'new', 'directory');
  const { code, stdout } = await run(['init', '--data', dataDir, '--root-key-file', makeRootKey(dir)]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^tenant [0-9a-f-]{36}\nmanagement key, shown only once: sr_management_\w+\n$/);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  for (const file of ['vault.db', 'keys.db']) expect(statSync(join(dataDir, file)).mode & 0o077, file).toBe(0);
});

test.runIf(existsSync('/dev/full'))(
  'a command whose new key cannot be printed says what was created and how to replace the key',
  async () => {
    const dir = tempDir();
    const flags = ['--data', join(dir, 'data'), '--root-key-file', makeRootKey(dir)];
    const unprinted = { code: 1, stdout: '' };
    const tenants = [
      await run(['init', ...flags], { fillsDisk: 'stdout' }),
      await run(['tenants', 'create', '--name', 'b', '--json', ...flags], { fillsDisk: 'stdout' }),
    ];
    for (const ended of tenants) {
      expect(ended).toMatchObject(unprinted);
      const [, tenant = ''] = /^tenant ([0-9a-f-]{36}) was created, but/.exec(ended.stderr) ?? [];
      expect(tenant, ended.stderr).not.toBe('');
      const [, command = ''] = /^ {2}strongroom (.*\\\n.*)$/m.exec(ended.stderr) ?? [];
      const replaced = await run([...command.replace('\\\n', ' ').trim().split(/\s+/), ...flags, '--json']);
      expect(JSON.parse(replaced.stdout)).toMatchObject({
        tenant_id: tenant,
        key: expect.stringMatching(managementKey),
      });

      const create = ['applications', 'create', '--name', 'a', '--type', 'public', '--permissions', 'token:create'];
      const application = await run([...create, '--tenant', tenant, ...flags], { fillsDisk: 'stdout' });
      expect(application).toMatchObject(unprinted);
      const { applications } = await runJson(['applications', 'list', '--tenant', tenant, ...flags]);
      const [{ id }] = applications as [{ readonly id: string }];
      expect(application.stderr).toContain(`application ${id} was created, but its key could not be printed`);
      expect(application.stderr).not.toMatch(/sr_/);
    }
    const left = await run(['tenants', 'create', '--name', 'c', ...flags], { leavesAtOnce: true });
    expect(left).toMatchObject({ code: 141, stderr: expect.stringMatching(/^tenant [0-9a-f-]{36} was created, but/) });
  },
);

test('if standard output is closed or discarded, a command that prints a new key creates nothing', async () => {
  const { dir, flags, dataDir } = await makeVault();
  const isNew = ['--data', join(dir, 'new'), '--root-key-file', join(dir, 'root.key')];
  const create = ['applications', 'create', '--name', 'a', '--type', 'public', '--permissions', 'token:create'];
  const before = hashesOf(dataDir);
  for (const discards of ['>&-', '>/dev/null'] as const) {
    for (const args of [
      ['init', ...isNew],
      ['tenants', 'create', '--name', 'b', ...flags],
      [...create, ...flags],
    ]) {
      const ended = await run(args, { discards });
      expect(ended, args.join(' ')).toMatchObject({ code: 2, stderr: expect.stringMatching(/Nothing was created/) });
    }
  }
  expect(existsSync(join(dir, 'new'))).toBe(false);
  expect(hashesOf(dataDir)).toEqual(before);
});

test('two simultaneous inits create one tenant', async () => {
  const dir = tempDir();
  const flags = ['--data', join(dir, 'data'), '--root-key-file', makeRootKey(dir)];
  const both = await Promise.all([run(['init', ...flags, '--json']), run(['init', ...flags, '--json'])]);
  expect(both.map(({ code }) => code).sort(), JSON.stringify(both)).toEqual([0, 1]);
  expect((await runJson(['tenants', 'list', ...flags]))['tenants']).toHaveLength(1);
});

test('init works through a running service, and a second init through it fails', async () => {
  const dir = tempDir();
  const flags = ['--data', join(dir, 'data'), '--root-key-file', makeRootKey(dir)];
  const service = await startService(flags);
  const { tenant_id } = await runJson(['init', ...flags]);
  expect(await run(['init', ...flags])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/already initialized/),
  });
  const args = [
    'applications',
    'create',
    '--name',
    'a',
    '--type',
    'private',
    '--permissions',
    'token:create',
    ...flags,
  ];
  const key = String((await runJson(args))['key']);
  const created = await http('POST', `${service.address}/tokens`, { key, body: { type: 'token', data: 1 } });
  expect(created).toMatchObject({ status: 201, body: { tenant_id } });
});

test('commands on missing data explain how to create the data, and create nothing', async () => {
  const { dir, rootKeyFile, key } = await makeVault();
  const keyFile = join(dir, 'api.key');
  writeFileSync(keyFile, key, { mode: 0o600 });
  const before = hashesOf(dir);
  const flags = ['--data', join(dir, 'elsewhere'), '--root-key-file', rootKeyFile];
  const verbs = [
    ['tenants', 'list'],
    ['tenants', 'create', '--name', 'x'],
    ['applications', 'create', '--name', 'x', '--type', 'private', '--permissions', 'token:read'],
    ['tokens', 'get', 'an-id', '--api-key-file', keyFile],
  ];
  for (const verb of verbs) {
    const ended = await run([...verb, ...flags]);
    expect(ended, verb.join(' ')).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/no vault in .*elsewhere.*strongroom init/);
  }
  expect(hashesOf(dir)).toEqual(before);
});

test('a new data directory and its new parents are flushed to disk, so that a power failure does not remove them', async () => {
  const dir = tempDir();
  const flushed = await flushedPaths((path) => path);
  const lock = await takeDataDirectory(join(dir, 'new', 'data'), (error) => expect.unreachable(error.message));
  lock.release();
  expect(flushed).toEqual(expect.arrayContaining([join(dir, 'new'), dir]));
});
