import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keyIdBytes, keyIdsOf, tamper } from '../erasure/support.js';
import { makeVault, run, runJson, startService, tempDir } from '../support/process.js';
import { startTestService } from '../support/test-service.js';

type Found = { readonly check: string; readonly state: string; readonly says: string; readonly do?: string };

/** What it finds, and how it ends. */
async function doctor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await run(['doctor', '--json', ...args], { env });
  const { findings, problems } = JSON.parse(stdout) as { findings: Found[]; problems: number };
  expect(code, stderr).toBe(problems === 0 ? 0 : 3);
  const wrong = findings.filter(({ state }) => state === 'problem');
  expect(wrong).toHaveLength(problems);
  for (const one of wrong) expect(one.do, one.says).toBeTruthy();
  return {
    findings,
    wrong: wrong.map(({ check }) => check),
    says: (check: string) => findings.find((one) => one.check === check)?.says,
  };
}

test('a vault in order has no problem, whether the service runs or not, and says since when copies are void', async () => {
  const { flags } = await makeVault();
  const before = await doctor(flags);
  expect(before.wrong).toEqual([]);
  expect(before.says('copies')).toContain('never rotated');
  const service = await startService(flags);
  await runJson(['keys', 'rotate', '--all', ...flags]);
  const after = await doctor(flags);
  expect(after.wrong).toEqual([]);
  expect(after.says('copies')).toMatch(/^copies of the keys from before 20\d\d-.* are void/);
  expect(after.findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining(['configuration', 'root key', 'disk', 'stores', 'projections', 'deadlines', 'lost keys']),
  );
  expect((await service.stop()).stderr).toBe('');
});

test('files that others may reach are named, and mended with --fix', async () => {
  const { dataDir, rootKeyFile, flags } = await makeVault();
  chmodSync(dataDir, 0o777);
  chmodSync(rootKeyFile, 0o644);
  expect((await doctor(flags)).wrong).toEqual(expect.arrayContaining(['root key', 'data directory']));
  expect((await doctor(['--fix', ...flags])).wrong).toEqual([]);
  expect([dataDir, rootKeyFile].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
});

test('lost keys are told, overdue deadlines and orphan keys too, which --fix ends', async () => {
  const service = await startTestService();
  const { dataDir, rootKey } = service;
  const create = async (more: object) => {
    const created = await service.call('POST', '/tokens', { type: 'token', data: 'x', ...more });
    expect(created.status, created.text).toBe(201);
    return String(created.body['id']);
  };
  const lost = await create({});
  const inAnHour = new Date(service.clock.now() + 3_600_000).toISOString();
  await create({ expires_at: inAnHour });
  await create({});
  const [lostKey = ''] = (await keyIdsOf(service, lost)).content;
  // As a crash leaves keys that were made ahead: no event names them.
  await service.vault.keys.create(service.tenantId);
  await service.stop();
  const rootKeyFile = join(tempDir(), 'root.key');
  writeFileSync(rootKeyFile, `${rootKey.toString('hex')}\n`, { mode: 0o600 });
  const flags = ['--data', dataDir, '--root-key-file', rootKeyFile];
  // The clock of the test stands months ago, so the token is long overdue and the key long an orphan.
  expect((await doctor(flags)).wrong).toEqual(['deadlines', 'orphan keys']);
  expect((await doctor(['--fix', ...flags])).wrong).toEqual([]);
  tamper(
    dataDir,
    'keys.db',
    'UPDATE data_keys SET destroyed_at = 1, wrapped = zeroblob(61) WHERE id = ?',
    keyIdBytes(lostKey),
  );
  const found = await doctor(['--fix', ...flags]);
  expect(found.wrong).toEqual(['lost keys']);
  expect(found.says('lost keys')).toBe('1 living tokens lack a key');
});

test('wrong settings, a root key of another vault, and servers that are down are findings and no crash', async () => {
  const [one, other] = [await makeVault(), await makeVault()];
  const mixed = ['--data', one.dataDir, '--root-key-file', other.rootKeyFile];
  expect(await doctor(mixed)).toMatchObject({ wrong: ['stores'] });
  expect((await doctor(one.flags, { STRONGROOM_PORT: 'x' })).wrong).toEqual(['configuration']);
  const down = {
    ...{ STRONGROOM_PROFILE: 'cluster', STRONGROOM_INSECURE_STORES: 'true' },
    ...{ STRONGROOM_EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false', STRONGROOM_REDIS_URL: 'redis://127.0.0.1:1' },
    STRONGROOM_MONGODB_URL: 'mongodb://127.0.0.1:1/?replicaSet=rs0',
  };
  const found = await doctor(['--root-key-file', one.rootKeyFile], down);
  expect(found.wrong).toEqual(['stores']);
  expect(found.says('stores')).toContain('mongodb is unavailable');
});
