import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { cookieNames } from '#src/console/cookies.js';
import { openSession } from '#src/console/sessions.js';
import { apiKeyHash } from '#src/domain/tenancy/api-key.js';
import { startTestConsole } from '../support/console/console.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService } from '../support/test-service.js';

/** Starts a console for a vault with a second tenant, whose row or keys an attacker has changed. */
async function consoleAfter(file: string, sql: string) {
  const before = await startTestService();
  const damaged = before.tenantId;
  const { dataDir, rootKey, clock } = before;
  await before.stop();
  const database = pinStatements(join(dataDir, file), {});
  expect(database.prepare(sql).run(damaged).changes).toBeGreaterThan(0);
  database.close();
  const console = await startTestConsole({ dataDir, rootKey, clock });
  return { console, damaged, key: before.key };
}

const attacks = [
  ['a forged row', 'vault.db', `UPDATE directory SET mac = zeroblob(32) WHERE kind = 'tenant' AND id = ?`],
  ['a damaged key', 'keys.db', 'UPDATE tenant_keys SET wrapped = zeroblob(60) WHERE tenant = ?'],
  ['a lost key', 'keys.db', `DELETE FROM tenant_keys WHERE purpose = 'identity' AND tenant = ?`],
] as const;

describe.each(attacks)('%s of one tenant', (_what, file, sql) => {
  test('does not keep operators from the console, and what they do is recorded for the other tenants', async (context) => {
    embeddedOnly(context, 'the test changes SQLite files');
    const { console, damaged } = await consoleAfter(file, sql);
    const { service } = console;
    const browser = await console.signIn({ privateKey: '', managementKey: '', isOperator: true });
    for (const path of ['/', '/operations', '/checks', '/verification'])
      expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
    expect((await browser.get('/')).text).toContain(`Those of tenant ${damaged} cannot be read`);
    expect((await browser.post('/operations/rebuild', { name: 'shredder' })).status).toBe(303);
    expect((await browser.post('/sign-out')).status).toBe(303);
    const { text } = await service.call('GET', '/logs?size=100', undefined, { key: service.managementKey });
    for (const message of [
      'signed in at the console',
      'signed out of the console',
      'rebuild of the projection shredder',
    ])
      expect(text).toContain(message);
    expect(service.errors.map(String).join()).toContain(damaged);
  });

  test('leaves operator rights to a person who also signed in with a key of that tenant', async (context) => {
    embeddedOnly(context, 'the test changes SQLite files');
    const { console, key } = await consoleAfter(file, sql);
    const keys = { privateKeyHash: apiKeyHash(key), managementKeyHash: null, membership: null };
    const person = { name: 'Ada Lovelace', issuer: null };
    const token = await openSession(console.service.vault, { ...keys, isOperator: true }, person);
    const headers = { host: 'console.example', cookie: `${cookieNames.session}=${token}` };
    expect((await console.app.inject({ url: '/operations', headers })).statusCode).toBe(200);
    expect((await console.app.inject({ url: '/tokens', headers })).statusCode).toBe(403);
  });

  test('does not matter for the overview of another tenant', async (context) => {
    embeddedOnly(context, 'the test changes SQLite files');
    const { console, damaged } = await consoleAfter(file, sql);
    const { status, text } = await (await console.signIn()).get('/');
    expect(status).toBe(200);
    expect(text).not.toContain(damaged);
  });
});
