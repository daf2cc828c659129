import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { describe, expect, test } from 'vitest';
import { numberBytes } from '#src/adapters/sqlite/database/number-bytes.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { startReceiver } from '../jobs/receiver.js';
import { fill, unread } from '../rotation/support.js';
import {
  copyOf,
  hashesOf,
  http,
  makeVault,
  run,
  runJson,
  type Service,
  startService,
  until,
} from '../support/process.js';

const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0', STRONGROOM_WEBHOOKS_ALLOW_PRIVATE_TARGETS: 'true' };

/** Creates a vault with two tenants. Each of them has a token and a webhook. */
async function vaultWithTwoTenants() {
  const vault = await makeVault();
  const { flags, managementKey } = vault;
  const created = await runJson(['tenants', 'create', '--name', 'other', '--json', ...flags]);
  const other = { id: String(created['tenant_id']), managementKey: String(created['management_key']), key: '' };
  const receiver = await startReceiver();
  const service = await startService(flags, { env });
  const everything = { container: '/', transform: 'reveal', permissions: ['token:create', 'token:read'] };
  const application = { name: 'all', type: 'private', rules: [everything] };
  const post = async (path: string, key: string, body: object) => {
    const { status, body: answer, text } = await http('POST', `${service.address}${path}`, { key, body });
    expect(status, text).toBe(201);
    return answer;
  };
  other.key = String((await post('/applications', other.managementKey, application))['key']);
  const webhook = { url: receiver.url, event_types: ['token.created'] };
  for (const key of [managementKey, other.managementKey]) await post('/webhooks', key, webhook);
  await post('/tokens', other.key, { id: 'of-other', type: 'token', data: 'value' });
  const made = await fill(service.address, vault, 3);
  await until('the deliveries', 60_000, () => (receiver.received.length >= 4 ? true : undefined));
  return { ...vault, other, receiver, service, made };
}

type TwoTenants = Awaited<ReturnType<typeof vaultWithTwoTenants>>;

async function deleteOther(service: Service, { other }: TwoTenants): Promise<void> {
  const { managementKey: key } = other;
  const deleted = await http('DELETE', `${service.address}/tenants/self`, { key, body: { name: 'other' } });
  expect(deleted.status, deleted.text).toBe(204);
}

/** Expects that the other tenant is deleted, and that everything works for the remaining one. */
async function expectDeleted(flags: readonly string[], vault: TwoTenants): Promise<void> {
  const { key, managementKey, tenantId, other, receiver, made } = vault;
  const service = await startService(flags, { env });
  const get = (path: string, as: string) => http('GET', `${service.address}${path}`, { key: as });
  expect((await get('/tokens/of-other', other.key)).status).toBe(401);
  expect((await get('/webhooks', other.managementKey)).status).toBe(401);
  receiver.received.length = 0;
  const [id = ''] = (await fill(service.address, vault, 1)).keys();
  await until('the delivery', 60_000, () => (receiver.received.length > 0 ? true : undefined));
  expect(await unread(service.address, key, made)).toEqual([]);
  expect((await get(`/tokens/${id}/history`, managementKey)).status).toBe(200);
  expect((await http('GET', `${service.address}/health/ready`)).status).toBe(200);
  const listed = await run(['tenants', 'list', '--json', ...flags]);
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(tenantId) });
  expect(listed.stdout).not.toContain(other.id);
  for (const command of [['doctor'], ['projections', 'rebuild', 'tokens', '--yes'], ['audit', 'verify']]) {
    const { code, stdout, stderr } = await run([...command, ...flags]);
    expect([command, code], stdout + stderr).toEqual([command, 0]);
  }
  expect((await service.stop()).stderr).toBe('');
}

test('a restore of a backup from before the deletion of a tenant records the deletion', async () => {
  const vault = await vaultWithTwoTenants();
  const { dir, dataDir, flags, rootKeyFile, service } = vault;
  const identity = await generateIdentity();
  const identityFile = join(dir, 'backup.identity');
  writeFileSync(identityFile, `${identity}\n`, { mode: 0o600 });
  const backUp = async (folder: string, from: readonly string[]) =>
    runJson(['backup', folder, '--recipient', await identityToRecipient(identity), ...from]);
  const backup = join(dir, 'backup');
  await backUp(backup, flags);
  await deleteOther(service, vault);
  const list = join(dir, 'erased.txt');
  await runJson(['backup', list, '--erased-only', '--data', dataDir]);
  await service.stop();

  const target = join(dir, 'restored');
  const opening = ['--identity', identityFile, '--root-key-file', rootKeyFile];
  const restore = ['restore', backup, '--erased', list, '--data', target, ...opening];
  const before = hashesOf(dir);
  const refused = await run(restore);
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toContain('since then, 1 tenant was deleted with all tokens. What was erased');
  expect(hashesOf(dir)).toEqual(before);
  expect(await run([...restore, '--accept-older-log'])).toMatchObject({
    code: 0,
    stdout: 'restored; recorded 1 tenant as deleted, because the keys were erased after the log was copied\n',
  });
  const restored = ['--data', target, '--root-key-file', rootKeyFile];
  await expectDeleted(restored, vault);

  // The restored log contains the deletion.
  const next = join(dir, 'next');
  await backUp(next, restored);
  const erased = join(next, 'erased-keys.txt');
  const again = ['restore', next, '--erased', erased, '--data', join(dir, 'again'), ...opening];
  expect(await run(again)).toMatchObject({ code: 0, stdout: 'restored\n' });
});

test('a log from before the deletion of a tenant is accepted with the deletion', async () => {
  const vault = await vaultWithTwoTenants();
  const { dataDir, flags, service } = vault;
  await service.stop();
  const old = copyOf(dataDir);
  const second = await startService(flags, { env });
  await deleteOther(second, vault);
  await second.stop();
  putBack(old, dataDir);
  expect((await run(['serve', '--port', '0', ...flags])).code).toBe(1);
  const accepted = await runJson(['restore', '--accept-older-log', ...flags]);
  expect(accepted).toEqual({ tenants_deleted: 1, tokens_deleted: 0, cvcs_purged: 0 });
  await expectDeleted(flags, vault);
});

describe('when an attacker changes the keys of a tenant in the key store, and an operator accepts an older log', () => {
  const acceptAfter = async (statement: string) => {
    const { dataDir, flags, service, other } = await vaultWithTwoTenants();
    await service.stop();
    inKeys(dataDir, (keys) => {
      expect(keys.prepare(statement).run(other.id).changes).toBe(2);
      keys.prepare("REPLACE INTO meta (name, value) VALUES ('log', ?)").run(numberBytes(1_000_000));
    });
    return { flags, otherId: other.id, accepted: await runJson(['restore', '--accept-older-log', ...flags]) };
  };

  test.each([
    ['removed', 'DELETE FROM tenant_keys WHERE tenant = ?'],
    ['damaged', 'UPDATE tenant_keys SET wrapped = zeroblob(length(wrapped)) WHERE tenant = ?'],
  ])('keys that were %s are lost, and the tenant is not recorded as deleted', async (_, statement) => {
    const { flags, otherId, accepted } = await acceptAfter(statement);
    expect(accepted).toEqual({ tenants_deleted: 0, tokens_deleted: 0, cvcs_purged: 0 });
    const doctor = await run(['doctor', ...flags]);
    expect(doctor.code, doctor.stdout).toBe(3);
    expect(doctor.stdout).toMatch(new RegExp(`PROBLEM +lost keys .*${otherId}`));
  });

  test('keys that were marked as destroyed count as erased', async () => {
    const { accepted } = await acceptAfter(
      'UPDATE tenant_keys SET wrapped = zeroblob(length(wrapped)), destroyed_at = 1 WHERE tenant = ?',
    );
    expect(accepted).toEqual({ tenants_deleted: 1, tokens_deleted: 0, cvcs_purged: 0 });
  });
});

describe('when an attacker assigns the destroyed identity key of a deleted tenant to a tenant that exists', () => {
  // The deleted tenant is the older one, so its row comes first.
  const attack = async () => {
    const vault = await vaultWithTwoTenants();
    const { dataDir, flags, managementKey, other, service, tenantId } = vault;
    const { body: tenant } = await http('GET', `${service.address}/tenants/self`, { key: managementKey });
    const body = { name: tenant['name'] };
    const deleted = await http('DELETE', `${service.address}/tenants/self`, { key: managementKey, body });
    expect(deleted.status, deleted.text).toBe(204);
    await service.stop();
    inKeys(dataDir, (keys) => {
      const move = keys.prepare(`UPDATE tenant_keys SET tenant = ? WHERE tenant = ? AND purpose = 'identity'`);
      expect(move.run(other.id, tenantId).changes).toBe(1);
    });
    const expectWorking = async (restored: readonly string[]) => {
      const again = await startService(restored, { env });
      const got = await http('GET', `${again.address}/tokens/of-other`, { key: other.key });
      expect([got.status, got.body['data']], got.text).toEqual([200, 'value']);
      await again.stop();
    };
    return { ...vault, flags, expectWorking };
  };

  test('the tenant keeps working, and its keys can be rotated', async () => {
    const { flags, expectWorking } = await attack();
    await expectWorking(flags);
    const rotated = await run(['keys', 'rotate', '--all', ...flags]);
    expect(rotated.code, rotated.stderr).toBe(0);
    await expectWorking(flags);
  });

  test('a restore does not record that the tenant was deleted', async () => {
    const { dir, flags, rootKeyFile, expectWorking } = await attack();
    const identity = await generateIdentity();
    const identityFile = join(dir, 'backup.identity');
    writeFileSync(identityFile, `${identity}\n`, { mode: 0o600 });
    const backup = join(dir, 'backup');
    await runJson(['backup', backup, '--recipient', await identityToRecipient(identity), ...flags]);
    const restored = ['--data', join(dir, 'restored'), '--root-key-file', rootKeyFile];
    const list = join(backup, 'erased-keys.txt');
    const ended = await run(['restore', backup, '--erased', list, '--identity', identityFile, ...restored]);
    expect(ended).toMatchObject({ code: 0, stdout: 'restored\n' });
    await expectWorking(restored);
  });

  test('accepting an older log does not record that the tenant was deleted', async () => {
    const { dataDir, flags, expectWorking } = await attack();
    inKeys(dataDir, (keys) => {
      keys.prepare("REPLACE INTO meta (name, value) VALUES ('log', ?)").run(numberBytes(1_000_000));
    });
    const accepted = await runJson(['restore', '--accept-older-log', ...flags]);
    expect(accepted).toEqual({ tenants_deleted: 0, tokens_deleted: 0, cvcs_purged: 0 });
    await expectWorking(flags);
  });
});

/** Changes the key store of a stopped vault, as an attacker who can write to the file could. */
function inKeys(dataDir: string, change: (keys: ReturnType<typeof pinStatements>) => void): void {
  const database = pinStatements(join(dataDir, 'keys.db'), {});
  change(database);
  database.close();
}

/** Replaces `vault.db` with an older copy. */
function putBack(from: string, dataDir: string): void {
  copyFileSync(join(from, 'vault.db'), join(dataDir, 'vault.db'));
  for (const suffix of ['-wal', '-shm']) copyFileSync('/dev/null', join(dataDir, `vault.db${suffix}`));
}
