import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';
import { erasedLines } from '#src/cli/backup/erased-list.js';
import { runCommand } from '#src/cli/run-command.js';
import { keysToCopy } from '#src/compose/backup/stores-to-copy.js';
import { loadConfig } from '#src/compose/config/config.js';
import { signalingItself } from '../backup/support.js';
import { fill, unread } from '../rotation/support.js';
import { http, run, runJson, spawnCommand, startService, until } from '../support/process.js';
import { twoMachines } from './two-machines.js';

test('keys from before a rotation are restored with the old root key, without what was erased; a backup that a rotation overtakes fails', {
  timeout: 300_000,
}, async () => {
  const { dir, one, oldRootKeyFile, key, keysDb } = await twoMachines();
  const { options } = one;
  const identity = await generateIdentity();
  const identityFile = join(dir, 'identity');
  writeFileSync(identityFile, `${identity}\n`, { mode: 0o600 });
  const recipient = await identityToRecipient(identity);
  const service = await startService(['--role', 'api'], options);
  const made = await fill(service.address, { key }, 20);
  const [before = '', after = ''] = made.keys();
  const remove = async (id: string) => {
    expect((await http('DELETE', `${service.address}/tokens/${id}`, { key })).status).toBe(204);
    made.delete(id);
  };
  const backup = join(dir, 'backup');
  await runJson(['backup', backup, '--recipient', recipient], options);
  const old = await keyCollections.tenantKeys(keysDb).findOne({ purpose: 'wrapping', destroyed_at: null });

  // Rotates the keys when the next backup has copied them.
  await remove(before);
  const folder = join(dir, 'backups');
  mkdirSync(folder);
  const stopping = { env: { ...options.env, ...signalingItself('SIGSTOP', 'open', /\/manifest\.json$/) } };
  const overtaken = spawnCommand(['backup', join(folder, 'next'), '--recipient', recipient], stopping);
  await until('the manifest', 60_000, () =>
    readdirSync(folder).some((name) => existsSync(join(folder, name, 'manifest.json'))) ? true : undefined,
  );
  expect((await run(['keys', 'generate-root', one.nextFile])).code).toBe(0);
  expect((await runJson(['keys', 'rotate', '--all'], options))['state']).toBe('rotated');
  const ended = await overtaken.stop('SIGCONT');
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain('the keys were rotated during the backup. Try again.');
  expect(readdirSync(folder)).toEqual([]);

  await remove(after);
  await service.stop();
  const list = join(dir, 'erased.txt');
  await runJson(['backup', list, '--erased-only'], options);
  const erased = await keyCollections.dataKeys(keysDb).find({ wrapped: null }).toArray();
  expect(erased.length).toBeGreaterThan(1);

  // A list that contains the old wrapping key.
  const loaded = loadConfig({ env: options.env, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const { config } = loaded;
  const keys = await keysToCopy(config);
  const withOld = {
    logId: keys.logId,
    async *erased() {
      yield* keys.erased();
      yield old?._id ?? '';
    },
  };
  const macOf = async (text: string) => (await runCommand(config, 'backup-mac', { of: 'erased-keys', text })).mac;
  const lines: string[] = [];
  for await (const line of erasedLines(withOld, macOf)) lines.push(line);
  await keys.close();
  const wrong = join(dir, 'wrong.txt');
  writeFileSync(wrong, lines.join(''));

  await keysDb.dropDatabase();
  const withOldKey = { env: { ...options.env, STRONGROOM_ROOT_KEY_FILE: oldRootKeyFile } };
  const restore = ['restore', backup, '--identity', identityFile, '--erased'];
  const refused = await run([...restore, wrong], withOldKey);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('contains keys that a rotation replaced after this backup was made.');
  expect(await keysDb.listCollections().toArray()).toEqual([]);

  const nothing = { tenants_deleted: 0, tokens_deleted: 0, cvcs_purged: 0 };
  expect(await runJson([...restore, list], withOldKey), 'the log contains the deletions').toEqual(nothing);
  const ids = erased.map(({ _id }) => _id);
  const living = { _id: { $in: ids }, wrapped: { $ne: null } };
  expect(await keyCollections.dataKeys(keysDb).countDocuments(living)).toBe(0);
  const again = await startService(['--role', 'api'], withOldKey);
  expect(await unread(again.address, key, made)).toEqual([]);
  for (const id of [before, after]) {
    expect((await http('GET', `${again.address}/tokens/${id}`, { key })).status).toBe(404);
  }
  await again.stop();
});
