import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { never } from '#src/adapters/sqlite/database/keys-schema.js';
import { numberBytes } from '#src/adapters/sqlite/database/number-bytes.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { reconcileKeys } from '#src/commands/recovery/reconcile-keys.js';
import { recordErased } from '#src/commands/recovery/record-erased.js';
import { openEmbedded } from '#src/compose/embedded/embedded.js';
import { loadRootKey } from '#src/compose/root-key/root-key.js';
import { staysBehind } from '#src/vault/log-behind.js';
import { type Row, relinked, renumbered, tamper } from '../audit/tampering.js';
import { fill, unread } from '../rotation/support.js';
import { manualClock } from '../support/manual-clock.js';
import {
  copyOf,
  hashesOf,
  http,
  jsonResult,
  makeVault,
  run,
  runJson,
  startService,
  tempDir,
} from '../support/process.js';
import { startTestService } from '../support/test-service.js';

const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0' };

test.each([
  ['with SIGTERM', 'SIGTERM'],
  ['with SIGKILL', 'SIGKILL'],
] as const)(
  'a vault with an older vault.db and newer keys starts only after the older log was accepted, and restores no erased data (stopped %s)',
  async (_, signal) => {
    const vault = await makeVault();
    const { dataDir, flags, key } = vault;
    const first = await startService(flags, { env });
    const made = await fill(first.address, vault, 20);
    await first.stop();
    const old = copyOf(dataDir);
    const second = await startService(flags, { env });
    const [deleted = '', replaced = '', relabelled = ''] = made.keys();
    const address = (id: string) => `${second.address}/tokens/${id}`;
    expect((await http('DELETE', address(deleted), { key })).status).toBe(204);
    expect((await http('PATCH', address(replaced), { key, body: { data: 'newer' } })).status).toBe(200);
    // The key store has recorded this change, but the older log does not contain it. When the vault runs with the older
    // log, a read returns the token as it was before the change.
    expect((await http('PATCH', address(relabelled), { key, body: { metadata: { a: 'b' } } })).status).toBe(200);
    await second.stop(signal);
    for (const id of [deleted, replaced]) made.delete(id);

    // After a kill, the newer journal would bring the older vault.db up to date (crash/journal.test.ts). The test
    // therefore replaces both files.
    for (const file of signal === 'SIGKILL' ? ['vault.db', 'journal.db'] : ['vault.db']) {
      copyFileSync(join(old, file), join(dataDir, file));
      for (const suffix of ['-wal', '-shm']) copyFileSync('/dev/null', join(dataDir, file + suffix));
    }
    settleLog(join(dataDir, 'keys.db'));
    const before = hashesOf(dataDir);
    const refused = await run(['serve', '--port', '0', ...flags]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^the log is behind its keys.*restore --accept-older-log/);
    expect(hashesOf(dataDir)['keys.db']).toBe(before['keys.db']);
    const doctor = await run(['doctor', '--json', ...flags]);
    expect(doctor.code).toBe(3);
    expect(jsonResult(doctor)).toMatchObject({
      findings: expect.arrayContaining([expect.objectContaining({ check: 'log', state: 'problem' })]),
    });
    const verified = await run(['audit', 'verify', ...flags]);
    expect(verified).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the key store has recorded events after'),
    });

    expect(await runJson(['restore', '--accept-older-log', ...flags])).toEqual({
      tenants_deleted: 0,
      tokens_deleted: 2,
      cvcs_purged: 0,
    });
    const again = await run(['restore', '--accept-older-log', ...flags]);
    expect(again).toMatchObject({ code: 1, stderr: 'the log is not behind its keys; nothing was changed.\n' });
    const third = await startService(flags, { env });
    expect(await http('GET', `${third.address}/health/ready`)).toMatchObject({ status: 200 });
    expect(await unread(third.address, key, made)).toEqual([]);
    for (const id of [deleted, replaced]) {
      expect((await http('GET', `${third.address}/tokens/${id}`, { key })).status).toBe(404);
    }
    await fill(third.address, vault, 5);
    expect((await third.stop()).stderr).toBe('');
  },
);

test('a token that expired since the log was copied is recorded as deleted, so doctor reports no lost key', async () => {
  // By the clock of this service, the token does not expire before the service stops, so it does not record the expiry.
  const clock = manualClock(Date.now() - 60_000);
  const first = await startTestService({ dataDir: join(tempDir(), 'data'), clock });
  const { dataDir, rootKey, key } = first;
  const expires_at = new Date(clock.now() + 30_000).toISOString();
  const body = { id: 'short-lived', type: 'token', data: 'x', expires_at };
  expect((await first.call('POST', '/tokens', body)).status).toBe(201);
  await first.stop();
  const rootKeyFile = join(tempDir(), 'root.key');
  writeFileSync(rootKeyFile, `${rootKey.toString('hex')}\n`, { mode: 0o600 });
  const flags = ['--data', dataDir, '--root-key-file', rootKeyFile];
  const old = copyOf(dataDir);
  expect(await run(['doctor', '--fix', ...flags])).toMatchObject({ code: 0 });
  // The key store records this change, so the older log is behind it.
  const second = await startService(flags, { env });
  await fill(second.address, { key }, 1);
  await second.stop();
  for (const file of ['vault.db', 'journal.db']) {
    copyFileSync(join(old, file), join(dataDir, file));
    for (const suffix of ['-wal', '-shm']) copyFileSync('/dev/null', join(dataDir, file + suffix));
  }

  expect(await runJson(['restore', '--accept-older-log', ...flags])).toMatchObject({ tokens_deleted: 1 });
  expect(await run(['doctor', ...flags])).toMatchObject({ code: 0 });
});

test('an older vault.db that was tampered with is not accepted', async () => {
  const vault = await makeVault();
  const { dataDir, flags, key } = vault;
  const first = await startService(flags, { env });
  const made = await fill(first.address, vault, 5);
  await first.stop();
  const old = copyOf(dataDir);
  const second = await startService(flags, { env });
  const [deleted = ''] = made.keys();
  expect((await http('DELETE', `${second.address}/tokens/${deleted}`, { key })).status).toBe(204);
  await second.stop();
  copyFileSync(join(old, 'vault.db'), join(dataDir, 'vault.db'));
  for (const suffix of ['-wal', '-shm']) copyFileSync('/dev/null', join(dataDir, `vault.db${suffix}`));
  const attacks: ((rows: Row[]) => Row[])[] = [
    (rows) => rows.map((row) => (row.type === 'token.created' ? { ...row, actor: 'somebody' } : row)),
    (rows) => rows.filter((row) => row !== rows.find(({ type }) => type === 'token.created')),
  ];
  for (const attack of attacks) {
    tamper(dataDir, (rows) => relinked(renumbered(attack(rows))));
    const refused = await run(['restore', '--accept-older-log', ...flags]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('changed the log');
    expect((await run(['serve', '--port', '0', ...flags])).code).toBe(1);
    copyFileSync(join(old, 'vault.db'), join(dataDir, 'vault.db'));
  }
  expect(await runJson(['restore', '--accept-older-log', ...flags])).toEqual({
    tenants_deleted: 0,
    tokens_deleted: 1,
    cvcs_purged: 0,
  });
});

test('an attacker who can write to the key store gains nothing from --accept-older-log: erased data stays erased', async () => {
  const vault = await makeVault();
  const { dataDir, flags, key } = vault;
  const first = await startService(flags, { env });
  const made = await fill(first.address, vault, 5);
  const [deleted = '', replaced = ''] = made.keys();
  await first.stop();
  const older = keysIn(dataDir, (database) => database.prepare('SELECT * FROM data_keys').all() as KeyRow[]);
  const second = await startService(flags, { env });
  expect((await http('DELETE', `${second.address}/tokens/${deleted}`, { key })).status).toBe(204);
  expect((await http('PATCH', `${second.address}/tokens/${replaced}`, { key, body: { data: 'new' } })).status).toBe(
    200,
  );
  made.delete(deleted);
  made.delete(replaced);
  await second.stop();
  const living = older.filter((row) => row['destroyed_at'] === never).map((row) => row['id'] as Buffer);
  /** Returns the ids of the token keys that are currently destroyed. */
  const erased = (): readonly Buffer[] =>
    keysIn(dataDir, (database) => {
      const isDestroyed = database.prepare(`SELECT destroyed_at <> ${never} FROM data_keys WHERE id = ?`).pluck();
      return living.filter((id) => isDestroyed.get(id) === 1);
    });
  const before = erased();
  expect(before).toHaveLength(2);

  // The attacker puts the wrapped keys back. The attacker also makes the key store record a longer log, so that the
  // vault refuses to start and an operator runs `restore --accept-older-log`.
  keysIn(dataDir, (database) => {
    for (const row of older) {
      const names = Object.keys(row);
      const values = names.map((name) => `@${name}`).join();
      database.prepare(`REPLACE INTO data_keys (${names.join()}) VALUES (${values})`).run(row);
    }
    database.prepare("REPLACE INTO meta (name, value) VALUES ('log', ?)").run(numberBytes(1_000_000));
  });
  expect(erased()).toEqual([]);
  const refused = await run(['serve', '--port', '0', ...flags]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('the log is behind its keys') });
  expect(await runJson(['restore', '--accept-older-log', ...flags])).toEqual({
    tenants_deleted: 0,
    tokens_deleted: 0,
    cvcs_purged: 0,
  });
  const third = await startService(flags, { env });
  expect((await http('GET', `${third.address}/tokens/${deleted}`, { key })).status).toBe(404);
  const { body } = await http('GET', `${third.address}/tokens/${replaced}`, { key });
  expect(body).toMatchObject({ data: 'new' });
  expect(await unread(third.address, key, made)).toEqual([]);
  await third.stop();
  // The log contains the events that marked these keys for destruction, so the vault destroyed the keys again.
  expect(erased()).toEqual(before);
});

test('an older log whose repair was interrupted after the last erasure was recorded can still be accepted', async () => {
  const vault = await makeVault();
  const { dataDir, flags, key } = vault;
  const first = await startService(flags, { env });
  const made = await fill(first.address, vault, 3);
  await first.stop();
  const old = copyOf(dataDir);
  const second = await startService(flags, { env });
  const [deleted = ''] = made.keys();
  expect((await http('DELETE', `${second.address}/tokens/${deleted}`, { key })).status).toBe(204);
  made.delete(deleted);
  await second.stop('SIGKILL');
  for (const file of ['vault.db', 'journal.db']) {
    copyFileSync(join(old, file), join(dataDir, file));
    for (const suffix of ['-wal', '-shm']) copyFileSync('/dev/null', join(dataDir, file + suffix));
  }

  // Does what the command does, up to this point.
  const rootKey = await loadRootKey({ file: vault.rootKeyFile, dataDir });
  if (!rootKey.ok) throw new Error(rootKey.message);
  const fail = (error: unknown) => {
    throw error;
  };
  const opened = await openEmbedded({
    dataDir,
    rootKey: rootKey.key,
    mode: 'production',
    cvcRetentionMs: 3_600_000,
    acceptsOlderLog: true,
    onError: fail,
    onBroken: fail,
  });
  const tokens = (await reconcileKeys(opened.vault)).lost;
  await staysBehind(opened.vault);
  await recordErased(opened.vault, { tenants: [], tokens });
  await opened.close();
  expect(tokens).toHaveLength(1);

  const refused = await run(['serve', '--port', '0', ...flags]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('restore --accept-older-log') });
  expect(await runJson(['restore', '--accept-older-log', ...flags])).toMatchObject({ tokens_deleted: 0 });
  const third = await startService(flags, { env });
  expect((await http('GET', `${third.address}/tokens/${deleted}`, { key })).status).toBe(404);
  expect(await unread(third.address, key, made)).toEqual([]);
  expect((await third.stop()).stderr).toBe('');
});

test('restore without a folder explains what it needs, and creates nothing', async () => {
  const { dir, flags } = await makeVault();
  const before = hashesOf(dir);
  const refused = async (code: number, text: string, ...args: string[]) => {
    const ended = await run(['restore', ...args, ...flags]);
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) });
  };
  await refused(2, 'specify the folder of a backup');
  await refused(2, 'specify the folder of a backup', '--accept-older-log', '--erased', 'list');
  await refused(2, '--identity FILE and --erased FILE', 'folder', '--accept-older-log');
  const elsewhere = await run(['restore', '--accept-older-log', ...flags, '--data', join(dir, 'nowhere')]);
  expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no vault in') });
  expect(hashesOf(dir)).toEqual(before);
});

type KeyRow = Readonly<Record<string, unknown>>;

/** Reads or changes the key store of a stopped vault, as an attacker who can write to the file could. */
function keysIn<T>(dataDir: string, use: (database: Database.Database) => T): T {
  const database = pinStatements(join(dataDir, 'keys.db'), {});
  try {
    return use(database);
  } finally {
    database.close();
  }
}

/**
 * Copies the changes in the write-ahead log of a killed process into the database file. Afterwards, the file changes
 * only if something new is written.
 */
function settleLog(path: string): void {
  const database = pinStatements(path, {});
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}
