import { randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { fill } from '../rotation/support.js';
import { startSecureStandIn } from '../support/eventstoredb.js';
import { http, jsonResult, makeRootKey, run, runJson, startService, tempDir, until } from '../support/process.js';
import { serverWithUsers } from './server-with-users.js';

type Found = { readonly check: string; readonly state: string; readonly says: string };

test('prepare gives the vault exactly the rights that it needs, and doctor warns about users with excess rights', {
  timeout: 300_000,
}, async () => {
  const { mongodb, rows, keys, redisUrl, adminFile } = await serverWithUsers();
  const eventStore = await startSecureStandIn();
  onTestFinished(eventStore.remove);
  const dir = tempDir();
  const eventStoreAdmin = join(dir, 'eventstore-admin');
  writeFileSync(eventStoreAdmin, `${eventStore.url}\n`, { mode: 0o600 });
  const env = {
    STRONGROOM_PROFILE: 'cluster',
    STRONGROOM_INSECURE_STORES: 'true',
    STRONGROOM_ROOT_KEY_FILE: makeRootKey(dir),
    STRONGROOM_MONGODB_DATABASE: `strongroom_test_${randomBytes(8).toString('hex')}`,
    STRONGROOM_MONGODB_URL: rows,
    STRONGROOM_MONGODB_KEYS_URL: keys,
    STRONGROOM_REDIS_URL: redisUrl,
    STRONGROOM_EVENTSTORE_URL: eventStore.urlOf('strongroom:its-password'),
  };
  const prepare = ['cluster', 'prepare', '--eventstore-admin-url-file', eventStoreAdmin];
  const both = [...prepare, '--mongodb-admin-url-file', adminFile];
  const first = await run(both, { env });
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toMatch(/EventStoreDB: created the user strongroom\n(.*\n)*MongoDB: created the user rows\n/);
  expect(first.stdout + first.stderr).not.toMatch(/changeit|secret|its-password/);
  expect((await run(both, { env })).stdout).toMatch(
    /the user strongroom exists\n(.*\n)*MongoDB: updated the user keys\n/,
  );

  // The address of the administrator can list all nodes, as `mongodb.url` does, and some of them can be down.
  const severalFile = join(dir, 'several');
  writeFileSync(severalFile, mongodb.replace('@', '@127.0.0.1:9,'), { mode: 0o600 });
  expect(await run(['cluster', 'prepare', '--mongodb-admin-url-file', severalFile], { env })).toMatchObject({
    code: 0,
    stdout: 'MongoDB: updated the user rows\nMongoDB: updated the user keys\n',
  });

  expect(await run(['init'], { env })).toMatchObject({ code: 0 });
  const application = ['applications', 'create', '--name', 'all', '--type', 'private', '--permissions', 'token:create'];
  const { key } = await runJson(application, { env });
  const service = await startService(['--role', 'all'], { env: { ...env, STRONGROOM_ADMIN_PORT: '0' } });
  expect(await fill(service.address, { key: String(key) }, 3)).toHaveProperty('size', 3);

  const create = async () =>
    http('POST', `${service.address}/tokens`, { key: String(key), body: { type: 'token', data: 1 } });
  await withoutChangesOf('token_rows_1', mongodb);
  expect(await create()).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
  const named = /lacks a permission in MongoDB: update in \w+\.token_rows_1\. `strongroom cluster prepare` gives both/;
  await until('the log line', 30_000, () => named.exec(service.stdout()) ?? undefined);
  expect(await run(both, { env })).toMatchObject({ code: 0 });
  expect(await create()).toMatchObject({ status: 201 });
  expect((await service.stop()).code).toBe(0);

  const permissions = async (changed: Readonly<Record<string, string>>) => {
    const doctor = await run(['doctor', '--json'], { env: { ...env, ...changed } });
    const { findings } = jsonResult(doctor) as { findings: Found[] };
    return findings.filter(({ check }) => check === 'permissions').map(({ state, says }) => `${state}: ${says}`);
  };
  expect(await permissions({})).toEqual([expect.stringMatching(/^ok: /)]);
  await withoutChangesOf('daily_counts', mongodb);
  expect(await permissions({})).toEqual([
    expect.stringMatching(/^problem: .* lacks permissions in MongoDB: update, remove in \w+\.daily_counts$/),
  ]);
  expect(await permissions({ STRONGROOM_EVENTSTORE_URL: eventStore.url, STRONGROOM_MONGODB_URL: mongodb })).toEqual([
    expect.stringMatching(
      /^problem: the user of eventstore\.url could do more in EventStoreDB .*: delete and truncate/,
    ),
    expect.stringMatching(/^problem: the user of mongodb\.url or mongodb\.keys_url could do more in MongoDB .*: /),
  ]);
  const wrong = { STRONGROOM_MONGODB_KEYS_URL: keys.replace(':secret@', ':wrong@') };
  expect(await permissions(wrong)).toEqual([
    'problem: MongoDB does not know this user with this password',
    'problem: the permissions of the users could not be checked',
  ]);
});

/** Takes the permissions to change and remove documents of one collection away from the user of the rows. */
async function withoutChangesOf(collection: string, adminUrl: string): Promise<void> {
  const client = await MongoClient.connect(adminUrl);
  const admin = client.db('admin');
  const { roles } = await admin.command({ rolesInfo: 'strongroomRows', showPrivileges: true });
  const privileges = roles[0].privileges as readonly { readonly resource: { readonly collection: string } }[];
  const left = privileges.filter(({ resource }) => resource.collection !== collection);
  await admin.command({ updateRole: 'strongroomRows', privileges: left });
  await client.close();
}

test('prepare reports what is missing', async () => {
  const dir = tempDir();
  const env = {
    STRONGROOM_PROFILE: 'cluster',
    STRONGROOM_EVENTSTORE_URL: 'esdb://strongroom:secret@localhost:9',
    STRONGROOM_MONGODB_URL: 'mongodb://rows:secret@localhost:9/?tls=true',
    STRONGROOM_REDIS_URL: 'rediss://strongroom:secret@localhost:9',
  };
  const prepare = (...args: readonly string[]) => run(['cluster', 'prepare', ...args], { env });
  expect(await prepare()).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--mongodb-admin-url-file, or both'),
  });
  const file = join(dir, 'admin');
  expect(await prepare('--eventstore-admin-url-file', file)).toMatchObject({
    code: 1,
    stderr: `${file} cannot be read. Check the path and its permissions.\n`,
  });
  writeFileSync(file, 'mongodb://admin:secret@localhost:9/?nonsense=1', { mode: 0o604 });
  expect(await prepare('--mongodb-admin-url-file', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Run: chmod 600 ${file}`),
  });
  chmodSync(file, 0o600);
  expect(await prepare('--mongodb-admin-url-file', file)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^the address of MongoDB cannot be used: .* and the address of the administrator/),
  });
  writeFileSync(file, 'mongodb://localhost:9');
  expect(await prepare('--mongodb-admin-url-file', file)).toMatchObject({
    code: 1,
    stderr: 'the address of the administrator needs a user and a password.\n',
  });
  expect(await prepare('--eventstore-admin-url-file', file)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^the address of EventStoreDB cannot be used: .*write it as esdb/),
  });
});
