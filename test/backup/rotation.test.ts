import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { erasedLines } from '#src/cli/backup/erased-list.js';
import { runCommand } from '#src/cli/run-command.js';
import { keysToCopy } from '#src/compose/backup/stores-to-copy.js';
import { loadConfig } from '#src/compose/config/config.js';
import { fill, unread, wrapsIn } from '../rotation/support.js';
import { hashesOf, http, run, runJson, spawnCommand, startService, until } from '../support/process.js';
import { signalingItself, vaultWithIdentity } from './support.js';

const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0' };

test('a backup from before a rotation, restored with the old root key, contains everything except what was erased', async () => {
  const vault = await vaultWithIdentity();
  const { dir, dataDir, flags, rootKeyFile, recipient, identityFile, key, tenantId } = vault;
  const oldRootKey = join(dir, 'old.key');
  copyFileSync(rootKeyFile, oldRootKey);
  const names = ['earlier', 'later'];
  const others: Awaited<ReturnType<typeof runJson>>[] = [];
  for (const name of names) others.push(await runJson(['tenants', 'create', '--name', name, ...flags]));
  const service = await startService(flags, { env });
  const { address } = service;
  const post = async (path: string, as: string, body: object) => {
    const created = await http('POST', `${address}${path}`, { key: as, body });
    expect(created.status, created.text).toBe(201);
    return created.body;
  };
  const rules = [{ container: '/', transform: 'reveal', permissions: ['token:create', 'token:read'] }];
  const keysOfOthers: string[] = [];
  for (const other of others) {
    const { key: created } = await post('/applications', String(other['management_key']), {
      name: 'all',
      type: 'private',
      rules,
    });
    keysOfOthers.push(String(created));
    await post('/tokens', String(created), { id: 'of-other', type: 'token', data: 'value' });
  }
  const deleteOther = async (index: number) => {
    const as = { key: String(others[index]?.['management_key']), body: { name: names[index] } };
    expect((await http('DELETE', `${address}/tenants/self`, as)).status).toBe(204);
  };
  const made = await fill(address, vault, 40);
  const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };
  const { id: cardId } = await post('/tokens', key, { type: 'card', data: card });
  const [beforeBackup = '', before = '', during = '', after = '', replaced = ''] = made.keys();
  const erased = new Map<string, string>();
  const remove = async (id: string) => {
    expect((await http('DELETE', `${address}/tokens/${id}`, { key })).status).toBe(204);
    erased.set(id, made.get(id) ?? '');
    made.delete(id);
  };
  await remove(beforeBackup);

  const backup = join(dir, 'backup');
  await runJson(['backup', backup, '--recipient', recipient, '--data', dataDir]);
  const rotate = ['keys', 'rotate', '--all', ...flags];
  await remove(before);
  await deleteOther(0);
  await Promise.all([runJson(rotate), remove(during)]);
  await remove(after);
  await deleteOther(1);
  const changed = await http('PATCH', `${address}/tokens/${replaced}`, { key, body: { data: 'newer' } });
  expect(changed.status, changed.text).toBe(200);
  erased.set(replaced, made.get(replaced) ?? '');
  made.delete(replaced);
  expect((await http('DELETE', `${address}/tokens/${cardId}/cvc`, { key })).status).toBe(204);
  await runJson(rotate);
  const list = join(dir, 'erased.txt');
  await runJson(['backup', list, '--erased-only', '--data', dataDir]);
  await service.stop();

  const target = join(dir, 'restored');
  const restored = ['--data', target, '--root-key-file', oldRootKey];
  const restore = ['restore', backup, '--identity', identityFile, '--erased', list, ...restored];
  const refused = await run(restore);
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toContain(
    'since then, 2 tenants were deleted with all tokens; 4 tokens were deleted or had data replaced; 1 card lost only',
  );
  expect(existsSync(target)).toBe(false);
  const accepted = await runJson([...restore, '--accept-older-log']);
  expect(accepted).toEqual({ tenants_deleted: 2, tokens_deleted: 4, cvcs_purged: 1 });

  // No erased key was written, and no key of a deleted tenant.
  const written = wrapsIn(target);
  const listed = new Set(readFileSync(list, 'utf8').split('\n'));
  expect(written.dataKeys.filter(({ id }) => listed.has(id))).toEqual([]);
  const tenants = written.tenantKeys.filter(({ purpose }) => purpose === 'wrapping').map(({ tenant }) => tenant);
  expect(tenants).toEqual([tenantId]);

  const again = await startService(restored, { env });
  const get = (path: string, as: string) => http('GET', `${again.address}${path}`, { key: as });
  expect(await unread(again.address, key, made)).toEqual([]);
  expect((await get(`/tokens/${cardId}`, key)).body['data']).toMatchObject({ number: card.number });
  for (const [id, data] of erased) {
    expect((await get(`/tokens/${id}`, key)).status).toBe(404);
    const found = await http('POST', `${again.address}/tokens/search`, { key, body: { query: `data:"${data}"` } });
    expect([found.status, found.body['data']], found.text).toEqual([200, []]);
  }
  for (const as of keysOfOthers) expect((await get('/tokens/of-other', as)).status).toBe(401);
  await fill(again.address, vault, 2);
  expect((await http('GET', `${again.address}/health/ready`)).status).toBe(200);
  expect((await again.stop()).stderr).toBe('');
  for (const command of [['doctor'], ['audit', 'verify'], ['keys', 'rotate', '--all']]) {
    const { code, stdout, stderr } = await run([...command, ...restored]);
    expect([command, code], stdout + stderr).toEqual([command, 0]);
  }
});

test('a list that contains the wrapping key of a tenant that was not deleted is rejected before anything is written', async () => {
  const vault = await vaultWithIdentity();
  const { dir, dataDir, flags, rootKeyFile, recipient, identityFile } = vault;
  const oldRootKey = join(dir, 'old.key');
  copyFileSync(rootKeyFile, oldRootKey);
  const service = await startService(flags, { env });
  await fill(service.address, vault, 3);
  await service.stop();
  const backup = join(dir, 'backup');
  await runJson(['backup', backup, '--recipient', recipient, ...flags]);
  const rotated = wrapsIn(dataDir).tenantKeys.find(({ purpose }) => purpose === 'wrapping');
  await runJson(['keys', 'rotate', '--all', ...flags]);
  const loaded = loadConfig({ env: {}, flags: { data: dataDir, rootKeyFile } });
  if (!loaded.ok) throw new Error('these settings must be valid');
  const { config } = loaded;
  const keys = await keysToCopy(config);
  const lines: string[] = [];
  const withRotated = {
    logId: keys.logId,
    async *erased() {
      yield* keys.erased();
      yield rotated?.id ?? '';
    },
  };
  const macOf = async (text: string) => (await runCommand(config, 'backup-mac', { of: 'erased-keys', text })).mac;
  for await (const line of erasedLines(withRotated, macOf)) lines.push(line);
  await keys.close();
  const list = join(dir, 'erased.txt');
  writeFileSync(list, lines.join(''));

  const target = join(dir, 'restored');
  const to = ['--data', target, '--root-key-file', oldRootKey];
  const before = hashesOf(dir);
  for (const more of [[], ['--accept-older-log']]) {
    const refused = await run(['restore', backup, '--identity', identityFile, '--erased', list, ...to, ...more]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(
      'contains keys that a rotation replaced after this backup was made. With this list, the tokens of 1 tenant in this ' +
        'backup could not be read. Nothing was changed. Use a backup that was made after the rotation, with the current ' +
        'root key.',
    );
    expect(hashesOf(dir)).toEqual(before);
  }
});

test('a backup fails if the keys are rotated after they were copied, and leaves no files behind', async () => {
  const vault = await vaultWithIdentity();
  const { dir, dataDir, flags, recipient } = vault;
  const service = await startService(flags, { env });
  await fill(service.address, vault, 5);
  const folder = join(dir, 'backups');
  mkdirSync(folder);
  const command = ['backup', join(folder, 'monday'), '--recipient', recipient, '--data', dataDir];
  // At this time, the keys and the list are in the backup, and the copied files are verified.
  const backup = spawnCommand(command, { env: signalingItself('SIGSTOP', 'open', /\/manifest\.json$/) });
  await until('the manifest', 60_000, () =>
    readdirSync(folder).some((name) => existsSync(join(folder, name, 'manifest.json'))) ? true : undefined,
  );
  await runJson(['keys', 'rotate', '--all', ...flags]);
  const ended = await backup.stop('SIGCONT');
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain('the keys were rotated during the backup. Try again.');
  expect(readdirSync(folder)).toEqual([]);
  const { body } = await http('GET', `${service.address}/health/ready`);
  expect(body).toEqual({ status: 'ready' });
  await runJson(command);
  expect(readdirSync(folder)).toEqual(['monday']);
  await service.stop();
});
