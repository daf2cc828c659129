import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import { hashesOf, http, makeVault, run, runJson, startService, tempDir } from '../support/process.js';

const shell = promisify(execFile);

test.each([
  ['data', 'the plain directory of npm start'],
  [`it's a "dir" $HOME`, 'a directory whose name a shell would take apart'],
])(
  'the first start in %s (%s) creates keys and prints a curl command that works as printed; later starts reuse the keys',
  async (name) => {
    const cwd = tempDir();
    const args = ['--dev', ...(name === 'data' ? [] : ['--data', name])];
    const service = await startService(args, { cwd });
    const dataDir = join(cwd, name);
    for (const file of [`${dataDir}.root-key`, join(dataDir, 'dev-keys.json'), join(dataDir, 'quickstart.header')]) {
      expect(statSync(file).mode & 0o7777, file).toBe(0o600);
    }
    const keys = JSON.parse(readFileSync(join(dataDir, 'dev-keys.json'), 'utf8')) as Record<string, string>;
    expect(keys).toEqual({
      tenant_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      management_key: expect.stringMatching(/^sr_management_/),
      quickstart_key: expect.stringMatching(/^sr_private_/),
    });
    const header = readFileSync(join(dataDir, 'quickstart.header'), 'utf8');
    expect(header).toBe(`SERVICE-API-KEY: ${keys['quickstart_key']}\n`);

    const printed = service.stderr();
    for (const place of ['dev-keys.json', '.root-key']) expect(printed).toContain(place);
    expect(printed + service.stdout()).not.toMatch(/sr_(private|management)_\w/);
    const [, command = ''] = /^( +ID=\$\([\s\S]*?)\n\n/m.exec(printed) ?? [];
    const { stdout } = await shell('sh', ['-c', command], { cwd });
    expect(JSON.parse(stdout), command).toMatchObject({
      type: 'card',
      data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' },
    });

    expect(await service.stop()).toMatchObject({ code: 0 });
    const before = hashesOf(cwd);
    const again = await startService(args, { cwd });
    const read = await http('GET', `${again.address}/tokens/${JSON.parse(stdout).id}`, {
      key: String(keys['quickstart_key']),
    });
    expect(read).toMatchObject({ status: 200, body: JSON.parse(stdout) });
    const ended = await again.stop();
    expect(ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^The keys .*dev-keys\.json.*root-key.*\n(?:Open the console at http:.*\n)?$/),
    });
    expect(ended.stdout).not.toMatch(/curl/);
    const after = hashesOf(cwd);
    for (const file of ['dev-keys.json', 'quickstart.header']) {
      expect(after[`${name}/${file}`]).toBe(before[`${name}/${file}`]);
    }
    expect(after[`${name}.root-key`]).toBe(before[`${name}.root-key`]);
  },
);

test('commands on data from --dev need no further flags', async () => {
  const cwd = tempDir();
  const service = await startService(['--dev'], { cwd });
  const created = await runJson(['tokens', 'create'], { cwd, stdin: '{"type":"token","data":"value"}' });
  await service.stop();
  expect(await runJson(['tokens', 'get', String(created['id'])], { cwd })).toEqual(created);
});

test('data from --dev is rejected without --dev, other data is rejected with it, and nothing changes', async () => {
  const cwd = tempDir();
  await (await startService(['--dev'], { cwd })).stop();
  const before = hashesOf(cwd);
  const rootKey = ['--root-key-file', join(cwd, 'data.root-key')];
  for (const args of [['serve', '--port', '0'], ['serve', '--port', '0', ...rootKey], ['init'], ['init', ...rootKey]]) {
    const ended = await run(args, { cwd });
    expect(ended, args.join(' ')).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(
      /created by --dev.*`strongroom serve --dev --data .\/data` and the same --root-key-file.*--data/,
    );
  }
  expect(hashesOf(cwd)).toEqual(before);

  const vault = await makeVault();
  const made = hashesOf(vault.dir);
  const ended = await run(['serve', '--dev', '--port', '0', ...vault.flags]);
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/not created by --dev.*without --dev/) });
  expect(hashesOf(vault.dir)).toEqual(made);
});

test('a root key that is left over from --dev data is not used for a new vault', async () => {
  const cwd = tempDir();
  await (await startService(['--dev'], { cwd })).stop();
  rmSync(join(cwd, 'data'), { recursive: true });
  const before = hashesOf(cwd);
  for (const args of [['init'], ['serve', '--port', '0']]) {
    const { code, stderr } = await run(args, { cwd });
    expect([code, stderr], args.join(' ')).toEqual([1, expect.stringContaining('no root key is set.')]);
  }
  expect((await run(['doctor'], { cwd })).stdout).toContain('PROBLEM  root key        no root key is set.');
  expect(hashesOf(cwd)).toEqual(before);
  expect((await startService(['--dev'], { cwd })).stderr()).toContain('the root key is in');
});

test('restored --dev data starts with --dev: the old keys work, and new keys open the same tenant', async () => {
  const cwd = tempDir();
  const service = await startService(['--dev'], { cwd });
  const created = await runJson(['tokens', 'create'], { cwd, stdin: '{"type":"token","data":"value"}' });
  const identity = await generateIdentity();
  writeFileSync(join(cwd, 'backup.identity'), `${identity}\n`, { mode: 0o600 });
  await runJson(['backup', 'monday', '--recipient', await identityToRecipient(identity)], { cwd });
  await service.stop();
  const oldKeys = JSON.parse(readFileSync(join(cwd, 'data/dev-keys.json'), 'utf8')) as Record<string, string>;
  const rootKey = ['--root-key-file', 'data.root-key'];
  const restore = ['restore', 'monday', '--identity', 'backup.identity', '--erased', 'monday/erased-keys.txt'];

  const withoutKey = await run([...restore, '--data', 'restored'], { cwd });
  expect(withoutKey).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/A backup can be opened only.*--root-key/),
  });
  expect(withoutKey.stderr).not.toContain('generate-root');
  await runJson([...restore, '--data', 'restored', ...rootKey], { cwd });
  const startWithoutKey = await run(['serve', '--dev', '--data', 'restored', '--port', '0'], { cwd });
  expect(startWithoutKey).toMatchObject({ code: 1, stderr: expect.stringMatching(/no root key.*--root-key-file/) });
  expect(existsSync(join(cwd, 'restored.root-key'))).toBe(false);

  // A tenant that was created later does not get the new keys.
  await runJson(['tenants', 'create', '--name', 'dev', '--data', 'restored', ...rootKey], { cwd });
  const args = ['--dev', '--data', 'restored', ...rootKey];
  const restored = await startService(args, { cwd });
  expect(restored.stderr()).toMatch(/^restored\/dev-keys\.json was missing\..*existing tenant.*Older keys still work/);
  expect(restored.stderr()).toContain('the root key is in data.root-key.');
  const newKeys = JSON.parse(readFileSync(join(cwd, 'restored/dev-keys.json'), 'utf8')) as Record<string, string>;
  expect(newKeys['tenant_id']).toBe(oldKeys['tenant_id']);
  for (const keys of [oldKeys, newKeys]) {
    const read = await http('GET', `${restored.address}/tokens/${created['id']}`, {
      key: String(keys['quickstart_key']),
    });
    expect(read).toMatchObject({ status: 200, body: { data: 'value' } });
    const listed = await http('GET', `${restored.address}/applications`, { key: String(keys['management_key']) });
    expect(listed).toMatchObject({ status: 200, body: { pagination: { total_items: 4 } } });
  }
  await restored.stop();
  const { tenants } = await runJson(['tenants', 'list', '--data', 'restored', ...rootKey], { cwd });
  expect(tenants).toHaveLength(2);

  const again = await startService(args, { cwd });
  expect(again.stderr()).toMatch(/^The keys .* the root key is in data\.root-key\.\n/);
  expect(JSON.parse(readFileSync(join(cwd, 'restored/dev-keys.json'), 'utf8'))).toEqual(newKeys);
});

test.each(['are missing', 'name the deleted tenant'])(
  '--dev creates a new tenant if the data has no live tenant, and the files with the keys %s',
  async (files) => {
    const cwd = tempDir();
    const keysOf = () => JSON.parse(readFileSync(join(cwd, 'data/dev-keys.json'), 'utf8')) as Record<string, string>;
    const service = await startService(['--dev'], { cwd });
    const { tenant_id: before, management_key: key = '' } = keysOf();
    const deleted = await http('DELETE', `${service.address}/tenants/self`, { key, body: { name: 'dev' } });
    expect(deleted.status).toBe(204);
    await service.stop();
    if (files === 'are missing') rmSync(join(cwd, 'data/dev-keys.json'));
    const again = await startService(['--dev'], { cwd });
    expect(again.stderr()).not.toContain('was missing');
    if (files !== 'are missing') {
      expect(again.stderr()).toMatch(
        /^The tenant of the keys in .*dev-keys\.json was deleted\. --dev created a new tenant, and replaced/,
      );
    }
    expect(again.stderr()).toContain('Create a card token and read it back');
    const { tenant_id: after, management_key: newKey = '', quickstart_key: quickstartKey } = keysOf();
    expect(after).not.toBe(before);
    const header = readFileSync(join(cwd, 'data/quickstart.header'), 'utf8');
    expect(header).toBe(`SERVICE-API-KEY: ${quickstartKey}\n`);
    expect((await http('GET', `${again.address}/tenants/self`, { key: newKey })).status).toBe(200);
  },
);

test('--dev creates no root key for a vault that already has one', async () => {
  const { dir, dataDir } = await makeVault();
  const before = hashesOf(dir);
  const ended = await run(['serve', '--dev', '--port', '0', '--data', dataDir]);
  expect(ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^no root key is set\. The data in .* can be opened only with .*--root-key-file.* was in .*\/data\.root-key, which does not exist/,
    ),
  });
  expect(ended.stderr).not.toMatch(/generate-root|While the service/);
  expect(hashesOf(dir)).toEqual(before);
});

test('--dev rejects an address that other machines can reach, even with TLS, and creates nothing', async () => {
  const cwd = tempDir();
  mkdirSync(join(cwd, 'data'));
  for (const host of ['0.0.0.0', 'db.example.com']) {
    const ended = await run(['serve', '--dev', '--host', host, '--tls-cert', 'c', '--tls-key', 'k'], { cwd });
    expect(ended, host).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/--host: --dev is for this machine only; use 127\.0\.0\.1/);
  }
  expect(hashesOf(cwd)).toEqual({});
});

test.runIf(process.getuid?.() === 0)(
  '--dev starts in a directory that belongs to another user, such as a project mounted into a container',
  async () => {
    const dir = tempDir();
    chownSync(dir, 12_345, 12_345);
    const service = await startService(['--dev', '--data', join(dir, 'data'), '--admin-port', '0']);
    expect((await http('GET', `${service.address}/health/ready`)).status).toBe(200);
    expect(await service.stop()).toMatchObject({ code: 0 });
    const flags = ['--data', join(dir, 'data'), '--root-key-file', join(dir, 'data.root-key')];
    const { code, stderr } = await run(['serve', '--port', '0', ...flags]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('belongs to another user')]);
  },
);
