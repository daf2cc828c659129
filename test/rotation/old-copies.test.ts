import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDataKey } from '#src/keys/data-key.js';
import { openGenerationKey } from '#src/keys/generation-key.js';
import { openTenantKey } from '#src/keys/tenant-key.js';
import { filesOf } from '../erasure/files.js';
import { copyOf, http, makeVault, run, runJson, startService, until } from '../support/process.js';
import { fill, rootKeyIn, unread, wrapsIn } from './support.js';

const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0' };

test('after a rotation on a running service, the old root key and an older copy of the keys open no current data', async () => {
  const vault = await makeVault();
  const { dir, dataDir, rootKeyFile, flags, key } = vault;
  const oldKeyFile = join(dir, 'kept.key');
  copyFileSync(rootKeyFile, oldKeyFile);
  const service = await startService(flags, { env });
  const made = await fill(service.address, vault, 300);
  const [deleted = ''] = made.keys();
  const oldRoot = rootKeyIn(oldKeyFile);
  const before = wrapsIn(dataDir);
  const oldCopy = copyOf(dataDir);
  expect((await http('DELETE', `${service.address}/tokens/${deleted}`, { key })).status).toBe(204);
  made.delete(deleted);
  const inode = statSync(rootKeyFile).ino;

  const [ended, wrong] = await Promise.all([
    runJson(['keys', 'rotate', '--all', ...flags]),
    unread(service.address, key, made),
  ]);
  expect(ended).toEqual({ type: 'summary', state: 'rotated', root_key_file: rootKeyFile, setting: 'root_key_file' });
  expect(wrong).toEqual([]);
  expect(statSync(rootKeyFile), 'the old key is overwritten where it lay').toMatchObject({ ino: inode, size: 65 });
  expect(statSync(rootKeyFile).mode & 0o777).toBe(0o600);
  expect(existsSync(`${rootKeyFile}.new`)).toBe(false);
  await until('the record of it', 30_000, async () => {
    const { body } = await http('GET', `${service.address}/logs?operation=rotation`, { key: vault.managementKey });
    return (body['data'] as unknown[]).length === 1 ? true : undefined;
  });

  // No file contains bytes that were wrapped by the old root key or by a tenant's old key.
  const stale = [...before.tenantKeys, ...before.generationKeys, ...before.dataKeys].map(({ wrapped }) => wrapped);
  expect(stale.length).toBeGreaterThan(300);
  const files = filesOf(dataDir);
  expect(stale.filter((bytes) => files.some(({ content }) => content.includes(bytes.subarray(1, 29))))).toEqual([]);

  const today = wrapsIn(dataDir);
  expect(today.tenantKeys.map(({ purpose }) => purpose)).toContain('identity');
  for (const row of today.tenantKeys) expect(openTenantKey(oldRoot, row.wrapped, row)).toBeNull();
  for (const { wrapped } of today.generationKeys) expect(openGenerationKey(oldRoot, wrapped, 1)).toBeNull();
  // The old root key can unwrap the tenant keys in the older copy. These tenant keys cannot unwrap any current data
  // key.
  const oldWrapping = before.tenantKeys.filter(({ purpose }) => purpose === 'wrapping');
  const places = oldWrapping.map(({ id, tenant: tenantId, ...row }) => {
    const wrapping = openTenantKey(oldRoot, row.wrapped, { id, tenant: tenantId, purpose: row.purpose });
    if (wrapping === null) throw new Error('the copy must open with the old root key, or this test shows nothing');
    return { wrapping, tenantId, id };
  });
  for (const { id: keyId, tenantKeyId, wrapped } of today.dataKeys) {
    for (const { wrapping, tenantId, id } of places) {
      for (const named of [id, tenantKeyId]) {
        expect(openDataKey(wrapping, wrapped, { tenantId, tenantKeyId: named, keyId })).toBeNull();
      }
    }
  }

  expect(await unread(service.address, key, made)).toEqual([]);
  await service.stop();
  const refusal = {
    code: 1,
    stderr: 'this root key does not open keys.db. Set root_key_file to the file of the current root key.\n',
  };
  expect(await run(['tenants', 'list', '--data', dataDir, '--root-key-file', oldKeyFile])).toMatchObject(refusal);
  expect(await run(['tenants', 'list', '--data', oldCopy, '--root-key-file', rootKeyFile])).toMatchObject(refusal);
  const again = await startService(flags, { env });
  expect(await unread(again.address, key, made)).toEqual([]);
  expect((await http('GET', `${again.address}/tokens/${deleted}`, { key })).status).toBe(404);
});

test('the location of the root key is checked before a rotation starts', async () => {
  const { dir, dataDir, flags, rootKeyFile } = await makeVault();
  const before = readFileSync(join(dataDir, 'keys.db'));
  const refused = async (args: readonly string[], message: RegExp, code = 1, env = {}) => {
    const ended = await run(['keys', 'rotate', ...args], { env });
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toMatch(message);
    expect(readFileSync(join(dataDir, 'keys.db'))).toEqual(before);
  };
  await refused(flags, /add --all/, 2);
  const command = JSON.stringify(['cat', rootKeyFile]);
  await refused(['--all', '--data', dataDir], /--next-root-key-file/, 1, { STRONGROOM_ROOT_KEY_COMMAND: command });
  const notAKey = join(dir, 'not-a-key');
  copyFileSync(join(dataDir, 'vault.db'), notAKey);
  await refused(
    ['--all', ...flags, '--next-root-key-file', notAKey],
    /does not contain a root key|must be accessible to its owner only/,
  );
});

test('if a command provides the root key, the rotation names the next key, and the operator must change the command', async () => {
  const { dir, dataDir, rootKeyFile } = await makeVault();
  const next = join(dir, 'next.key');
  expect((await run(['keys', 'generate-root', next])).code).toBe(0);
  const of = (file: string) => ({ env: { STRONGROOM_ROOT_KEY_COMMAND: JSON.stringify(['cat', file]) } });
  const flags = ['--data', dataDir];
  const rotated = await run(['keys', 'rotate', '--all', ...flags, '--next-root-key-file', next], of(rootKeyFile));
  expect(rotated).toMatchObject({ code: 0 });
  expect(rotated.stdout).toContain(`all keys are under the new root key in ${next}`);
  expect(existsSync(next)).toBe(true);
  expect((await run(['tenants', 'list', ...flags], of(rootKeyFile))).code).toBe(1);
  expect((await run(['tenants', 'list', ...flags, '--next-root-key-file', next], of(rootKeyFile))).code).toBe(2);
  const env = { ...of(rootKeyFile).env, STRONGROOM_NEXT_ROOT_KEY_FILE: next };
  expect(await run(['tenants', 'list', ...flags], { env })).toMatchObject({ code: 0 });
  expect(await run(['tenants', 'list', ...flags], of(next))).toMatchObject({ code: 0 });
});
