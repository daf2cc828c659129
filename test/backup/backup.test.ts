import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { generateIdentity } from 'age-encryption';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { copyData } from '#src/adapters/sqlite/backup/copy-data.js';
import { openKeysToCopy } from '#src/adapters/sqlite/backup/copy-keys.js';
import { decodeKeyLine, encodeKeyLine } from '#src/adapters/sqlite/backup/key-line.js';
import { writeKeys } from '#src/adapters/sqlite/backup/write-keys.js';
import { lockData } from '#src/adapters/sqlite/data-lock.js';
import { never } from '#src/adapters/sqlite/database/keys-schema.js';
import { prepareStores } from '#src/adapters/sqlite/writer/prepare-stores.js';
import { runRestore } from '#src/cli/backup/run-restore.js';
import { writeBackup } from '#src/cli/backup/write-backup.js';
import { encrypterFor } from '#src/cli/files/age-keys.js';
import { loadConfig } from '#src/compose/config/config.js';
import { apiKeyHash, newApiKey } from '#src/domain/tenancy/api-key.js';
import { rotateKeys } from '#src/jobs/rotate-keys.js';
import { findTexts } from '../erasure/files.js';
import { tamper } from '../erasure/support.js';
import { createPlain, path } from '../http/routes/support.js';
import { rebuildTokens } from '../rebuild/support.js';
import { fill, unread, wrapsIn } from '../rotation/support.js';
import { flushedPaths } from '../support/flushed-paths.js';
import {
  hashesOf,
  http,
  makeVault,
  run,
  runJson,
  spawnCommand,
  startService,
  tempDir,
  until,
} from '../support/process.js';
import { canMount, smallDisk } from '../support/small-disk.js';
import { startTestService } from '../support/test-service.js';
import { wreckFile } from '../support/wreck-file.js';
import { signalingItself, vaultWithIdentity } from './support.js';

const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0' };

test('an old backup, restored with today’s list of erased keys, contains everything except what has been erased since', async () => {
  const vault = await vaultWithIdentity();
  const { dir, dataDir, rootKeyFile, flags, key, recipient, identityFile } = vault;
  const service = await startService(flags, { env });
  const made = await fill(service.address, vault, 60);
  const [deletedBefore = '', deleted = '', replaced = ''] = made.keys();
  const remove = async (id: string) => {
    expect((await http('DELETE', `${service.address}/tokens/${id}`, { key })).status).toBe(204);
    made.delete(id);
  };
  const cvcOf = async () => {
    const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };
    const created = await http('POST', `${service.address}/tokens`, { key, body: { type: 'card', data } });
    return String(created.body['id']);
  };
  const card = await cvcOf();
  await remove(deletedBefore);

  // Writes continue during the backup. Each of these writes may or may not be in the backup.
  const backup = join(dir, 'backup');
  const [summary, meanwhile] = await Promise.all([
    runJson(['backup', backup, '--recipient', recipient, '--data', dataDir]),
    fill(service.address, vault, 40),
  ]);
  expect(summary['files']).toEqual(
    expect.arrayContaining(['vault.db', 'keys.age', 'erased-keys.txt', 'manifest.json']),
  );

  // The backup contains no wrapped keys and no plaintext data.
  const files = readdirSync(backup).map((name) => ({ name, content: readFileSync(join(backup, name)) }));
  const wraps = wrapsIn(dataDir);
  const wrapped = [...wraps.tenantKeys, ...wraps.generationKeys, ...wraps.dataKeys].map((row) => row.wrapped);
  expect(wrapped.length).toBeGreaterThan(60);
  const open = wrapped.filter((bytes) =>
    files.some(({ content }) => content.includes(bytes) || content.includes(bytes.toString('base64'))),
  );
  expect(open).toEqual([]);
  expect(findTexts(files, { data: 'value 17', 'data of another': 'value 31' })).toEqual([]);

  await remove(deleted);
  const changed = await http('PATCH', `${service.address}/tokens/${replaced}`, { key, body: { data: 'newer' } });
  expect(changed.status, changed.text).toBe(200);
  made.delete(replaced);
  expect((await http('DELETE', `${service.address}/tokens/${card}/cvc`, { key })).status).toBe(204);
  const list = join(dir, 'erased.txt');
  await runJson(['backup', list, '--erased-only', '--data', dataDir]);
  const original = (await http('GET', `${service.address}/tokens/${card}`, { key })).body;
  await service.stop();

  const target = join(dir, 'restored');
  const restore = (...more: string[]) => [
    'restore',
    backup,
    '--identity',
    identityFile,
    '--erased',
    list,
    '--data',
    target,
    '--root-key-file',
    rootKeyFile,
    ...more,
  ];
  const before = hashesOf(dir);
  const refused = await run(restore());
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toContain(
    'since then, 2 tokens were deleted or had data replaced; 1 card lost only the verification code. What was erased ' +
      'cannot be restored. Add --accept-older-log',
  );
  expect(hashesOf(dir)).toEqual(before);

  const restored = await runJson(restore('--accept-older-log'));
  expect(restored).toEqual({ tenants_deleted: 0, tokens_deleted: 2, cvcs_purged: 1 });
  const again = await startService(['--data', target, '--root-key-file', rootKeyFile], { env });
  expect(await http('GET', `${again.address}/health/ready`)).toMatchObject({ status: 200 });
  expect(await unread(again.address, key, made)).toEqual([]);
  for (const id of [deletedBefore, deleted, replaced]) {
    expect((await http('GET', `${again.address}/tokens/${id}`, { key })).status).toBe(404);
  }
  expect((await http('GET', `${again.address}/tokens/${card}`, { key })).body['data']).toEqual(original['data']);
  const inBoth = (
    await Promise.all(
      [...meanwhile].map(async ([id, data]) => {
        const { status, body } = await http('GET', `${again.address}/tokens/${id}`, { key });
        return (status === 200 && body['data'] === data) || status === 404;
      }),
    )
  ).every(Boolean);
  expect(inBoth, 'what was written meanwhile is there wholly or not at all').toBe(true);
  await fill(again.address, vault, 5);
  expect((await again.stop()).stderr).toBe('');
});

test('a damaged or incomplete backup, or a wrong list, identity or path, is reported, and nothing changes', async () => {
  const { dir, dataDir, rootKeyFile, flags, identityFile, recipient, key } = await vaultWithIdentity();
  const backup = join(dir, 'backup');
  const early = join(dir, 'early.txt');
  const keyFile = join(dir, 'key');
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600 });
  const as = [...flags, '--api-key-file', keyFile];
  await runJson(['tokens', 'create', ...as], { stdin: '{"id":"erased","type":"token","data":"x"}' });
  await runJson(['tokens', 'delete', 'erased', ...as]);
  await runJson(['backup', early, '--erased-only', ...flags]);
  await runJson(['backup', backup, '--recipient', recipient, ...flags]);
  const target = join(dir, 'target');
  const list = join(backup, 'erased-keys.txt');
  const refused = async (
    message: RegExp,
    given: { folder?: string; identity?: string; erased?: string; data?: string },
  ) => {
    const before = hashesOf(dir);
    const { folder = backup, identity = identityFile, erased = list, data = target } = given;
    const ended = await run([
      'restore',
      folder,
      '--identity',
      identity,
      '--erased',
      erased,
      '--data',
      data,
      '--root-key-file',
      rootKeyFile,
    ]);
    expect(ended.stderr).toMatch(message);
    expect(ended).toMatchObject({ stdout: '' });
    expect(ended.code).toBeGreaterThan(0);
    expect(hashesOf(dir)).toEqual(before);
    expect(existsSync(target)).toBe(false);
  };
  const damaged = (name: string, change: (bytes: Buffer) => Buffer) => {
    const folder = join(dir, `damaged-${name}`);
    mkdirSync(folder, { recursive: true });
    cpSync(backup, folder, { recursive: true });
    writeFileSync(join(folder, name), change(readFileSync(join(folder, name))));
    return folder;
  };
  const flipped = (bytes: Buffer) => {
    const at = Math.floor(bytes.length / 2);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes;
  };
  for (const name of ['vault.db', 'keys.age']) await refused(/is damaged/, { folder: damaged(name, flipped) });
  await refused(/is damaged, or has another version/, {
    folder: damaged('manifest.json', (bytes) => bytes.subarray(9)),
  });
  const relabelled = (bytes: Buffer) => Buffer.from(bytes.toString().replace('"made_at": "20', '"made_at": "19'));
  await refused(/manifest\.json was changed after the backup was made/, {
    folder: damaged('manifest.json', relabelled),
  });
  await refused(/is not a complete backup/, { folder: dataDir });
  await refused(/is older than the backup/, { erased: early });
  const cut = join(dir, 'cut.txt');
  writeFileSync(cut, readFileSync(list, 'utf8').replace(/end .*\n$/, ''));
  await refused(/is not a complete list/, { erased: cut });
  // Threat: an attacker removes an id from the list so that an erased value can be restored, or adds an id so that a
  // restore destroys the key of a living token.
  const lines = readFileSync(list, 'utf8').trimEnd().split('\n');
  const mac = String(lines.at(-1)?.split(' ')[2]);
  const forged = (name: string, made: readonly string[]) => {
    writeFileSync(join(dir, name), `${made.join('\n')}\nend ${made.length - 1} ${mac}\n`);
    return refused(/was changed after it was written/, { erased: join(dir, name) });
  };
  await forged('short.txt', lines.slice(0, -2));
  await forged('long.txt', [...lines.slice(0, -1), randomUUID()]);
  await forged('redated.txt', [String(lines[0]).replace('"made_at":"20', '"made_at":"21'), ...lines.slice(1, -1)]);
  const stranger = join(dir, 'stranger.identity');
  writeFileSync(stranger, `${await generateIdentity()}\n`, { mode: 0o600 });
  await refused(/cannot be opened: the identity is not one of its recipients/, { identity: stranger });
  await refused(/is not empty/, { data: dataDir });
  const opening = ['--identity', identityFile, '--erased', list, '--root-key-file', rootKeyFile];
  const clusterEnv = {
    STRONGROOM_PROFILE: 'cluster',
    STRONGROOM_EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
    STRONGROOM_MONGODB_URL: 'mongodb://127.0.0.1:1/?replicaSet=rs0',
    STRONGROOM_REDIS_URL: 'redis://127.0.0.1:1',
    STRONGROOM_INSECURE_STORES: 'true',
  };
  expect(await run(['restore', backup, ...opening], { env: clusterEnv })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('this is a backup of the embedded profile, but profile is set to cluster'),
  });
  const again = await run(['backup', backup, '--recipient', recipient, '--data', dataDir]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already exists') });
});

test('a key planted in a backup gives no access, even if the manifest contains the correct hashes', async () => {
  const { dir, dataDir, rootKeyFile, flags, identityFile, recipient } = await vaultWithIdentity();
  const backup = join(dir, 'backup');
  await runJson(['backup', backup, '--recipient', recipient, ...flags]);
  const planted = newApiKey('private', (maxExclusive) => randomInt(maxExclusive));
  const plant = `INSERT INTO api_keys SELECT ?, ?, id, NULL FROM directory WHERE application_type = 'private'`;
  expect(tamper(backup, 'vault.db', plant, apiKeyHash(planted), randomUUID())).toBe(1);
  const path = join(backup, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  for (const file of manifest.files) {
    file.sha256 = createHash('sha256')
      .update(readFileSync(join(backup, file.name)))
      .digest('hex');
  }
  writeFileSync(path, JSON.stringify(manifest));
  const target = join(dir, 'target');
  const before = hashesOf(dir);
  const opening = ['--identity', identityFile, '--erased', join(backup, 'erased-keys.txt')];
  const ended = await run(['restore', backup, ...opening, '--data', target, '--root-key-file', rootKeyFile]);
  expect(ended.stderr).toMatch(/manifest\.json was changed after the backup was made/);
  expect(ended.code).toBe(1);
  expect(hashesOf(dir)).toEqual(before);
  expect(existsSync(target)).toBe(false);
  // The test now plants the same key in the vault itself. The vault rejects every use of the key.
  expect(tamper(dataDir, 'vault.db', plant, apiKeyHash(planted), randomUUID())).toBe(1);
  const service = await startService(flags, { env });
  expect((await http('GET', `${service.address}/tokens`, { key: planted })).status).toBe(401);
  await service.stop();
});

test('a backup mixed from two backups, of the same vault or of two vaults, is not restored', async () => {
  const vault = await vaultWithIdentity();
  const { dir, flags, rootKeyFile, recipient, identityFile, key } = vault;
  const keyFile = join(dir, 'key');
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600 });
  const as = [...flags, '--api-key-file', keyFile];
  const create = (id: string) =>
    runJson(['tokens', 'create', ...as], { stdin: JSON.stringify({ id, type: 'token', data: id }) });
  const [early, late, foreign] = ['early', 'late', 'foreign'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  await create('kept');
  await create('deleted');
  await runJson(['backup', early, '--recipient', recipient, ...flags]);
  await runJson(['tokens', 'delete', 'deleted', ...as]);
  await create('added');
  await runJson(['backup', late, '--recipient', recipient, ...flags]);
  const other = await makeVault();
  await runJson(['backup', foreign, '--recipient', recipient, ...other.flags]);
  const target = join(dir, 'target');
  const newest = join(late, 'erased-keys.txt');

  /** Combines files from two backups. If `rehashed` is true, the manifest contains the hashes of these files. */
  function mixed(base: string, from: string, names: readonly string[], rehashed: boolean): string {
    const folder = join(tempDir(), 'mixed');
    cpSync(base, folder, { recursive: true });
    for (const name of names) cpSync(join(from, name), join(folder, name));
    if (!rehashed) return folder;
    const path = join(folder, 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    for (const file of manifest.files) {
      const bytes = readFileSync(join(folder, file.name));
      file.sha256 = createHash('sha256').update(bytes).digest('hex');
      if ('size' in file) file.size = bytes.length;
    }
    writeFileSync(path, JSON.stringify(manifest));
    return folder;
  }

  for (const [base, from, names] of [
    [early, late, ['manifest.json']],
    [late, early, ['vault.db']],
    [late, early, ['keys.age']],
    [late, early, ['vault.db', 'keys.age']],
    [late, foreign, ['keys.age']],
    [late, foreign, ['vault.db']],
    [late, foreign, ['manifest.json']],
    [late, foreign, ['manifest.json', 'keys.age']],
  ] as const) {
    for (const rehashed of [false, true]) {
      const folder = mixed(base, from, names, rehashed);
      const ended = await run([
        'restore',
        folder,
        '--identity',
        identityFile,
        '--erased',
        newest,
        '--data',
        target,
        '--root-key-file',
        rootKeyFile,
      ]);
      const what = `${base} with ${names} of ${from}${rehashed ? ', rehashed' : ''}: ${ended.stderr}`;
      expect(ended.code, what).toBe(1);
      expect(ended.stderr, what).toMatch(
        /is damaged|was changed after the backup was made|belongs to a different vault|root key in \S+ is not the one/,
      );
      expect(existsSync(target), what).toBe(false);
    }
  }
  const foreignList = await run([
    'restore',
    late,
    '--identity',
    identityFile,
    '--erased',
    join(foreign, 'erased-keys.txt'),
    '--data',
    target,
    '--root-key-file',
    rootKeyFile,
  ]);
  expect(foreignList).toMatchObject({ code: 1, stdout: '' });
  expect(existsSync(target)).toBe(false);
  expect(
    (
      await run([
        'restore',
        late,
        '--identity',
        identityFile,
        '--erased',
        newest,
        '--data',
        target,
        '--root-key-file',
        rootKeyFile,
      ])
    ).code,
  ).toBe(0);
});

test('a restore uses the root key of --dev next to its target, and names that file if the key is wrong', async () => {
  const { dir, rootKeyFile, recipient, identityFile, flags } = await vaultWithIdentity();
  const backup = join(dir, 'backup');
  await runJson(['backup', backup, '--recipient', recipient, ...flags]);
  const target = join(dir, 'restored');
  const files = ['--identity', identityFile, '--erased', join(backup, 'erased-keys.txt'), '--data', target];
  writeFileSync(`${target}.root-key`, `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  expect(await run(['restore', backup, ...files])).toMatchObject({
    code: 1,
    stderr: `the root key in ${target}.root-key is not the one that this backup was made with. Set root_key_file to that key.\n`,
  });
  expect(existsSync(target)).toBe(false);
  cpSync(rootKeyFile, `${target}.root-key`);
  expect(await run(['restore', backup, ...files])).toMatchObject({ code: 0 });
  expect(existsSync(join(target, 'vault.db'))).toBe(true);
});

test('a backup that is passed as the data directory is reported as a backup, and nothing in it changes', async () => {
  const { dir, flags, rootKeyFile, recipient } = await vaultWithIdentity();
  const backup = join(dir, 'backup');
  await runJson(['backup', backup, '--recipient', recipient, ...flags]);
  const before = hashesOf(backup);
  const as = ['--data', backup, '--root-key-file', rootKeyFile];
  const another = ['backup', join(dir, 'another'), '--recipient', recipient];
  for (const command of [['audit', 'verify'], ['tenants', 'list'], ['init'], ['serve', '--port', '0'], another]) {
    const { code, stderr } = await run([...command, ...as]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${backup} is a backup, not a data directory.`)]);
    expect(stderr).toContain('strongroom restore');
  }
  const doctor = await run(['doctor', ...as]);
  expect([doctor.code, doctor.stdout]).toEqual([3, expect.stringContaining('is a backup, not a data directory')]);
  expect(hashesOf(backup)).toEqual(before);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a backup that %s interrupts leaves no files behind',
  async (signal) => {
    const vault = await vaultWithIdentity();
    const { dir, dataDir, flags, recipient } = vault;
    const service = await startService(flags, { env });
    await fill(service.address, vault, 200);
    const folder = join(dir, 'backups');
    mkdirSync(folder);
    const command = ['backup', join(folder, 'monday'), '--recipient', recipient, '--data', dataDir];
    const interrupting = signalingItself(signal, 'mkdir', /\.monday\.part-\w+$/);
    expect(await run(command, { env: interrupting })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('interrupted; nothing was written.'),
    });
    expect(readdirSync(folder)).toEqual([]);
    await runJson(command);
    expect(readdirSync(folder)).toEqual(['monday']);
    await service.stop();
  },
);

test('a stopped vault whose keys.db is a link is backed up', async () => {
  const { dir, dataDir, flags, recipient } = await vaultWithIdentity();
  const place = join(dir, 'elsewhere');
  mkdirSync(place, { mode: 0o700 });
  renameSync(join(dataDir, 'keys.db'), join(place, 'keys.db'));
  symlinkSync(join(place, 'keys.db'), join(dataDir, 'keys.db'));
  const { files } = await runJson(['backup', join(dir, 'backup'), '--recipient', recipient, ...flags]);
  expect(files).toContain('keys.age');
});

test('a backup whose folder was created meanwhile says so, and leaves that folder as it is', async () => {
  const { dir, dataDir, rootKeyFile, recipient } = await vaultWithIdentity();
  const loaded = loadConfig({ env: {}, flags: { data: dataDir, rootKeyFile } });
  if (!loaded.ok) throw new Error('these settings must be valid');
  const folder = join(dir, 'backups');
  mkdirSync(folder);
  const out = join(folder, 'monday');
  const backup = writeBackup(loaded.config, out, await encrypterFor([recipient], []), (phase) => {
    if (phase !== 'saving the files to disk') return;
    mkdirSync(out);
    writeFileSync(join(out, 'other'), '');
  });
  await expect(backup).rejects.toThrow('It was created while this command ran. Choose another path.');
  expect(readdirSync(folder)).toEqual(['monday']);
  expect(readdirSync(join(folder, 'monday'))).toEqual(['other']);
});

/** Creates a vault with tokens and a backup of it. `restore` returns the arguments that restore it. */
async function vaultWithBackup(tokens: number) {
  const vault = await vaultWithIdentity();
  const { dir, flags, recipient, identityFile, rootKeyFile } = vault;
  const service = await startService(flags, { env });
  const made = await fill(service.address, vault, tokens);
  await service.stop();
  const backup = join(dir, 'backup');
  await runJson(['backup', backup, '--recipient', recipient, ...flags]);
  const erased = join(backup, 'erased-keys.txt');
  const opening = ['--identity', identityFile, '--erased', erased, '--root-key-file', rootKeyFile];
  const restore = (target: string) => ['restore', backup, ...opening, '--data', target];
  const expectRestored = async (target: string, uid?: number) => {
    const as = uid === undefined ? {} : { uid };
    const again = await startService(['--data', target, '--root-key-file', rootKeyFile], { env, ...as });
    expect(await unread(again.address, vault.key, made)).toEqual([]);
    expect(await again.stop()).toMatchObject({ code: 0, stderr: '' });
  };
  return { ...vault, backup, restore, expectRestored };
}

test.runIf(canMount)('a backup can be restored into an empty mount point', async () => {
  const { restore, expectRestored } = await vaultWithBackup(5);
  const { dir: target } = smallDisk(64 * 1024 * 1024);
  // The root of an ext4 file system contains this directory.
  mkdirSync(join(target, 'lost+found'), { mode: 0o700 });
  expect(await run(restore(target))).toMatchObject({ code: 0, stdout: 'restored\n' });
  expect(readdirSync(target)).not.toContain('.restoring');
  await expectRestored(target);
});

test.runIf(process.getuid?.() === 0)(
  'a backup can be restored into an empty directory in a directory that the user cannot write (needs root)',
  async () => {
    const { dir, backup, rootKeyFile, identityFile, restore, expectRestored } = await vaultWithBackup(5);
    const user = 10_001;
    chmodSync(dir, 0o755);
    const target = join(dir, 'target');
    mkdirSync(target, { mode: 0o700 });
    const readable = [backup, ...readdirSync(backup).map((name) => join(backup, name)), rootKeyFile, identityFile];
    for (const path of [target, ...readable]) chownSync(path, user, user);
    const nowhere = await run(restore(join(dir, 'other')), { uid: user });
    expect(nowhere).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/other cannot be created\. Give this user/),
    });
    expect(await run(restore(target), { uid: user })).toMatchObject({ code: 0, stdout: 'restored\n' });
    await expectRestored(target, user);
  },
);

test.runIf(canMount)('a restore that fills the disk says so and leaves no files behind', async () => {
  const { restore } = await vaultWithBackup(5);
  const { dir: target } = smallDisk(256 * 1024);
  const ended = await run(restore(target));
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).not.toContain('unexpected error');
  expect(readdirSync(target)).toEqual([]);
});

test.runIf(canMount)('a restore whose keys fill the disk says so', async () => {
  const { dir } = smallDisk(256 * 1024);
  async function* lines() {
    for (let n = 0; n < 5_000; n += 1) {
      yield encodeKeyLine({ table: 'meta', row: { name: `name-${n}`, value: randomBytes(100) } });
    }
  }
  const full = { name: 'StoreUnavailable', store: 'keys.db', reason: 'full' };
  await expect(writeKeys(dir, lines(), { ids: new Set(), madeAt: 0 })).rejects.toMatchObject(full);
});

test('a restore whose files become damaged reports this and leaves no files behind', async () => {
  const { dir, backup, rootKeyFile, identityFile } = await vaultWithBackup(20);
  const target = join(dir, 'target');
  const loaded = loadConfig({ env: {}, flags: { data: target, rootKeyFile } });
  if (!loaded.ok) throw new Error('these settings must be valid');
  const files = { folder: backup, identity: identityFile, erased: join(backup, 'erased-keys.txt') };
  const restored = runRestore(loaded.config, files, false, (phase) => {
    if (phase.startsWith('recording what was erased')) wreckFile(join(target, '.restoring', 'keys.db'));
  });
  await expect(restored).rejects.toThrow('keys.db is damaged');
  expect(existsSync(target)).toBe(false);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a restore that %s interrupts leaves no files behind',
  async (signal) => {
    const { dir, restore } = await vaultWithBackup(200);
    const existing = join(dir, 'existing');
    mkdirSync(existing, { mode: 0o700 });
    for (const target of [existing, join(dir, 'new')]) {
      const interrupting = signalingItself(signal, 'mkdirSync', /\/\.restoring$/);
      // On a busy machine, progress is shown before this line.
      const stderr = expect.stringMatching(/^interrupted; nothing was changed\.\n$/m);
      expect(await run(restore(target), { env: interrupting })).toMatchObject({ code: 1, stderr });
    }
    expect(readdirSync(existing)).toEqual([]);
    expect(existsSync(join(dir, 'new'))).toBe(false);
  },
);

test('a directory with a killed restore is used by no command, and the next restore starts from the beginning', async () => {
  const { dir, rootKeyFile, recipient, restore, expectRestored } = await vaultWithBackup(200);
  const target = join(dir, 'target');
  const flags = ['--data', target, '--root-key-file', rootKeyFile];
  // At this time, all files are restored, but none of them has been moved.
  const killing = signalingItself('SIGKILL', 'rmSync', /\/\.restoring\/lock$/);
  expect(await run(restore(target), { env: killing })).toMatchObject({ signal: 'SIGKILL' });
  expect(readdirSync(join(target, '.restoring'))).toContain('keys.db');
  const another = ['backup', join(dir, 'another'), '--recipient', recipient];
  const commands = [
    ['init'],
    ['tenants', 'list'],
    ['serve', '--port', '0'],
    ['restore', '--accept-older-log'],
    another,
  ];
  const expectUnused = async () => {
    const before = hashesOf(target);
    for (const command of commands) {
      const { code, stderr } = await run([...command, ...flags]);
      expect([code, stderr], command.join(' ')).toEqual([
        1,
        expect.stringContaining('a restore that has not finished'),
      ]);
    }
    const doctor = await run(['doctor', ...flags]);
    expect([doctor.code, doctor.stdout]).toEqual([3, expect.stringContaining('a restore that has not finished')]);
    expect(hashesOf(target)).toEqual(before);
  };
  await expectUnused();
  expect(await run(restore(target))).toMatchObject({ code: 0 });
  await expectRestored(target);

  // The state after a kill while the files were being moved.
  mkdirSync(join(target, '.restoring'));
  await expectUnused();
  const again = await run(restore(target));
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining(`Remove everything in ${target}`) });
});

test('two restores into the same directory do not mix their files', async () => {
  const { dir, restore, expectRestored } = await vaultWithBackup(200);
  const target = join(dir, 'target');
  const first = spawnCommand(restore(target), { env: signalingItself('SIGSTOP', 'mkdirSync', /\/\.restoring$/) });
  await until('the incomplete restore', 30_000, () => existsSync(join(target, '.restoring')) || undefined);
  const second = await run(restore(target));
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('another Strongroom process uses') });
  expect(await first.stop('SIGCONT')).toMatchObject({ code: 0 });
  await expectRestored(target);
});

test('a restored access log contains what a checkpoint signed while the backup was copying', async () => {
  const { dir, dataDir, rootKeyFile, flags, key, recipient, identityFile } = await vaultWithIdentity();
  const service = await startService(flags, { env });
  await http('POST', `${service.address}/tokens`, { key, body: { id: 'one', type: 'token', data: 'secret' } });
  const loaded = loadConfig({ env: {}, flags: { data: dataDir, rootKeyFile } });
  if (!loaded.ok) throw new Error('these settings must be valid');

  // Before the second file is copied, the service records a read, and signs it when it stops.
  const script = `
    const token = '${service.address}/tokens/one';
    const { status } = await fetch(token, { headers: { 'SERVICE-API-KEY': '${key}' } });
    if (status !== 200) throw new Error('the read failed');
    process.kill(${service.pid});
    for (;;) await fetch(token).catch(() => process.exit());`;
  const prepare = Database.prototype.prepare;
  let copies = 0;
  const prepares = vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: unknown, sql) {
    if (sql.startsWith('VACUUM INTO')) copies += 1;
    if (copies === 2) {
      copies += 1;
      execFileSync(process.execPath, ['--input-type=module', '-e', script]);
    }
    return prepare.call(this as Database.Database, sql);
  });
  onTestFinished(() => prepares.mockRestore());
  const backup = join(dir, 'backup');
  await writeBackup(loaded.config, backup, await encrypterFor([recipient], []), () => undefined);
  prepares.mockRestore();
  expect(copies).toBeGreaterThan(2);

  const target = join(dir, 'restored');
  const as = ['--data', target, '--root-key-file', rootKeyFile];
  const erased = join(backup, 'erased-keys.txt');
  expect(await run(['restore', backup, '--identity', identityFile, '--erased', erased, ...as])).toMatchObject({
    code: 0,
  });
  expect(await run(['audit', 'verify', ...as])).toMatchObject({ code: 0, stderr: '' });
});

test('a token that is changed while the backup is verified is restored as it was before', async () => {
  const { dir, dataDir, rootKeyFile, flags, key, recipient, identityFile } = await vaultWithIdentity();
  const service = await startService(flags, { env });
  const token = `${service.address}/tokens/changed`;
  const headers = { 'SERVICE-API-KEY': key, 'content-type': 'application/merge-patch+json' };
  await http('POST', `${service.address}/tokens`, { key, body: { id: 'changed', type: 'token', data: 'old' } });
  const loaded = loadConfig({ env: {}, flags: { data: dataDir, rootKeyFile } });
  if (!loaded.ok) throw new Error('these settings must be valid');
  const backup = join(dir, 'backup');
  let changed = '';
  await writeBackup(loaded.config, backup, await encrypterFor([recipient], []), (phase) => {
    if (!phase.startsWith('verifying the log') || changed !== '') return;
    // The backup goes on only after this change.
    const init = JSON.stringify({ method: 'PATCH', headers, body: '{"data":"new"}' });
    const script = `fetch(${JSON.stringify(token)}, ${init}).then(({ status }) => process.stdout.write(String(status)))`;
    changed = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  });
  expect(changed).toBe('200');
  expect((await http('GET', token, { key })).body['data']).toBe('new');
  await service.stop();

  const target = join(dir, 'restored');
  const erased = join(backup, 'erased-keys.txt');
  const as = ['--data', target, '--root-key-file', rootKeyFile];
  expect(await run(['restore', backup, '--identity', identityFile, '--erased', erased, ...as])).toMatchObject({
    code: 0,
    stdout: 'restored\n',
  });
  const restored = await startService(as, { env });
  expect((await http('GET', `${restored.address}/tokens/changed`, { key })).body['data']).toBe('old');
  await restored.stop();
});

test('a backup contains the search key of its rows, even if a rebuild ends before the keys are copied', async () => {
  const service = await startTestService();
  onTestFinished(service.close);
  const keys = openKeysToCopy(service.dataDir);
  onTestFinished(keys.close);
  await rebuildTokens(service);
  expect(await service.vault.keys.generations()).toEqual([2]);
  const copied = [];
  for await (const line of keys.lines()) {
    const { table, row } = decodeKeyLine(line) ?? {};
    if (table === 'generation_keys') copied.push(row);
  }
  expect(copied).toMatchObject([
    { generation: 1, destroyed_at: never },
    { generation: 2, destroyed_at: never },
  ]);
});

test('the keys cannot be copied while they are rotated, or if they were rotated meanwhile', async () => {
  const service = await startTestService();
  onTestFinished(service.close);
  const { rotation } = service.vault.keys;
  /**
   * Copies the keys, and calls `meanwhile` after the first line and `afterwards` after the last one. Returns the number
   * of lines.
   */
  const copy = async (meanwhile: () => Promise<unknown>, afterwards = async (): Promise<unknown> => null) => {
    const keys = openKeysToCopy(service.dataDir);
    let lines = 0;
    try {
      for await (const _ of keys.lines()) {
        if (lines === 0) await meanwhile();
        lines += 1;
      }
      await afterwards();
      await keys.expectNotRotated();
    } finally {
      await keys.close();
    }
    return lines;
  };
  const nothing = async () => undefined;
  expect(await copy(nothing)).toBeGreaterThan(1);
  const rotate = () => rotateKeys(rotation, randomBytes(32));
  const begin = async () => rotation.begin(await rotation.rootCheck());
  const rotated = 'the keys were rotated during the backup. Try again.';
  await expect(copy(rotate)).rejects.toThrow(rotated);
  await expect(copy(nothing, rotate)).rejects.toThrow(rotated);
  await expect(copy(nothing, begin)).rejects.toThrow('the keys are being rotated');
  await rotate();
  await expect(copy(begin)).rejects.toThrow('the keys are being rotated');
});

test.runIf(canMount)('copies on an almost full disk are complete, or the disk is reported as full', async () => {
  const service = await startTestService();
  onTestFinished(service.close);
  const { id } = await createPlain(service);
  await service.vault.accessLog.chains();
  await Promise.all(Array.from({ length: 300 }, () => service.call('GET', path(id))));
  // The service soon moves the newest entries out of its journal. This copy keeps them there.
  const dataDir = join(tempDir(), 'data');
  cpSync(service.dataDir, dataDir, { recursive: true });
  const { dir, fill, free } = smallDisk(2 * 1024 * 1024);
  const outcomes = new Set<string>();
  for (let pages = 60; pages < 180; pages += 4) {
    const to = join(dir, 'copies');
    mkdirSync(to);
    fill(pages * 4096);
    try {
      const copied = copyData(dataDir, to);
      expect(readdirSync(to).sort()).toEqual([...copied].sort());
      outcomes.add('complete');
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
      outcomes.add('full');
    }
    free();
    rmSync(to, { recursive: true });
  }
  expect(outcomes).toEqual(new Set(['full', 'complete']));
});

test('a backup accepts a change that the service stores while the backup compares vault.db with the journal', () => {
  const dataDir = tempDir();
  const { vault, keys, journal } = prepareStores(dataDir);
  const lock = lockData(dataDir);
  const close = Database.prototype.close;
  const closing = vi.spyOn(Database.prototype, 'close').mockImplementationOnce(function (this: Database.Database) {
    // The first of the two files has been read.
    vault.exec('UPDATE applied SET sequence = 1');
    journal.exec("INSERT INTO groups VALUES (1, zeroblob(32), 0, x'00')");
    return close.call(this);
  });
  const to = tempDir();
  expect(copyData(dataDir, to)).toEqual(['vault.db']);
  expect(vault.prepare('SELECT sequence FROM applied').pluck().get()).toBe(1);
  closing.mockRestore();
  lock?.release();
  for (const database of [vault, keys, journal]) database.close();
});

test.runIf(process.platform === 'linux')(
  'a backup and a restored vault are on disk when the command ends: first the files, then their names',
  async () => {
    const { dir, dataDir, rootKeyFile, recipient, identityFile } = await vaultWithIdentity();
    const configOf = (data: string) => {
      const loaded = loadConfig({ env: {}, flags: { data, rootKeyFile } });
      if (!loaded.ok) throw new Error('these settings must be valid');
      return loaded.config;
    };
    const folder = join(dir, 'backup');
    const target = join(dir, 'new', 'restored');
    const isNamed = () => existsSync(folder) && !existsSync(join(target, '.restoring'));
    const flushed = await flushedPaths((path) => [path, isNamed()] as const);
    const { files } = await writeBackup(
      configOf(dataDir),
      folder,
      await encrypterFor([recipient], []),
      () => undefined,
    );
    const inPart = [...files]
      .sort()
      .map((name) => [expect.stringMatching(`/\\.backup\\.part-[0-9a-f]{8}/${name}$`), false]);
    expect(flushed.slice(0, -4).sort()).toEqual(inPart);
    expect(flushed.slice(-4)).toEqual([
      [expect.stringMatching(/\.backup\.part-[0-9a-f]{8}$/), false],
      [dir, true],
      // The time of the backup is recorded in the vault.
      [expect.stringMatching(`^${dataDir}/[^/]+$`), true],
      [dataDir, true],
    ]);
    const from = flushed.length;
    // A file system that stores no modes gives every file the same one.
    chmodSync(join(folder, 'vault.db'), 0o644);
    const erased = join(folder, 'erased-keys.txt');
    await runRestore(configOf(target), { folder, identity: identityFile, erased }, false, () => undefined);
    const part = join(target, '.restoring');
    const restored = readdirSync(target).filter((name) => name !== 'lock');
    expect(restored).toContain('keys.db');
    expect(flushed.slice(from)).toEqual([
      [join(dir, 'new'), true],
      [dir, true],
      ...restored.map((name) => [join(part, name), false]),
      [part, false],
      // The files have their names on disk before the subdirectory is removed.
      [target, false],
      [target, true],
    ]);
    expect(statSync(join(target, 'vault.db')).mode & 0o777).toBe(0o600);
  },
);

test('a token that is deleted while a backup is made stays erased, even if the list was written during the backup', async () => {
  const vault = await vaultWithIdentity();
  const { dir, dataDir, flags, rootKeyFile, recipient, identityFile, key } = vault;
  const service = await startService(flags);
  const { address } = service;
  for (const id of ['kept', 'deleted']) {
    const body = { id, type: 'token', data: `value of ${id}` };
    expect((await http('POST', `${address}/tokens`, { key, body })).status).toBe(201);
  }
  const folder = join(dir, 'backups');
  mkdirSync(folder);
  const command = ['backup', join(folder, 'monday'), '--recipient', recipient, '--data', dataDir];
  // At this time, the keys are in the backup, but its list is not.
  const backup = spawnCommand(command, { env: signalingItself('SIGSTOP', 'open', /\/erased-keys\.txt$/) });
  await until('the list', 60_000, () =>
    readdirSync(folder).some((name) => existsSync(join(folder, name, 'erased-keys.txt'))) ? true : undefined,
  );
  const list = join(dir, 'erased.txt');
  await runJson(['backup', list, '--erased-only', '--data', dataDir]);
  expect((await http('DELETE', `${address}/tokens/deleted`, { key })).status).toBe(204);
  expect(await backup.stop('SIGCONT')).toMatchObject({ code: 0 });
  await service.stop();

  const target = ['--data', join(dir, 'restored'), '--root-key-file', rootKeyFile];
  const restore = ['restore', join(folder, 'monday'), '--identity', identityFile, '--erased', list, ...target];
  const refused = await run(restore);
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toContain('1 token was deleted or had data replaced');
  expect(await runJson([...restore, '--accept-older-log'])).toMatchObject({ tokens_deleted: 1 });
  const again = await startService(target);
  expect((await http('GET', `${again.address}/tokens/deleted`, { key })).status).toBe(404);
  expect((await http('GET', `${again.address}/tokens/kept`, { key })).body['data']).toBe('value of kept');
  await again.stop();
});
