import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { exportLog } from '#src/cli/audit/run-export.js';
import { exportRecords } from '#src/cli/audit/run-record-export.js';
import { fileReceiver, streamRecords } from '#src/cli/audit/run-stream.js';
import type { RunOperation } from '#src/cli/run-command.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { operate } from './operate.js';

const rootKey = randomBytes(32);
let dataDir: string;
let service: TestService;
let damaged: string;
let run: RunOperation;

beforeEach(async (context) => {
  embeddedOnly(context, 'the test changes SQLite files');
  dataDir = mkdtempSync(join(tmpdir(), 'strongroom-damaged-tenant-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const before = await startTestService({ dataDir, rootKey });
  damaged = before.tenantId;
  await before.call('POST', '/tokens', { type: 'token', data: 'evidence' });
  await before.service.close();
});

/** Opens the vault after the attack. The vault has a second tenant, which is not damaged. */
async function reopenAfter(file: string, sql: string): Promise<void> {
  const database = pinStatements(join(dataDir, file), {});
  expect(database.prepare(sql).run(damaged).changes).toBeGreaterThan(0);
  database.close();
  service = await startTestService({ dataDir, rootKey });
  onTestFinished(() => service.close());
  run = (name, input) => operate(service.service, name, input);
}

const rowText = (id: string) => `the access log could not record this read for tenant ${id}: the row of tenant ${id}`;
const attacks = [
  ['a forged row', 'vault.db', `UPDATE directory SET content = x'00' WHERE kind = 'tenant' AND id = ?`, rowText],
  [
    'a row marked as removed',
    'vault.db',
    `UPDATE directory SET removed_at = 1 WHERE kind = 'tenant' AND id = ?`,
    rowText,
  ],
  ['a damaged key', 'keys.db', 'UPDATE tenant_keys SET wrapped = zeroblob(60) WHERE tenant = ?', (id: string) => id],
] as const;

async function readsOf(tenantId: string): Promise<number> {
  await service.vault.recorder.now([]);
  const { accessLog } = service.vault;
  const batches = await Promise.all((await accessLog.chains()).map((chain) => accessLog.batches(chain, 0, 100)));
  const entries = batches.flat().flatMap(({ entries: found }) => found);
  return entries.filter((one) => one.tenantId === tenantId && one.message === 'access log read on the command line')
    .length;
}

test.for(attacks)(
  '%s of a tenant does not prevent an export or a stream of the evidence',
  async ([, file, sql, says]) => {
    await reopenAfter(file, sql);
    const target = (name: string) => join(dataDir, name);
    const message = expect.stringContaining(says(damaged));
    expect(await run('audit-begin', { from: 1, exports: true })).toMatchObject({ unrecorded: message });
    for (const tenant of [null, damaged]) {
      const out = target(`${tenant}.csv`);
      const filter = { tenant, from: null, to: null };
      expect((await exportRecords(run, { format: 'csv', filter, out, json: false })).records).toBeGreaterThan(0);
      expect(readFileSync(out, 'utf8')).toContain(damaged);
    }
    expect((await exportLog(run, { from: 1, to: null, out: target('log'), json: false })).events).toBeGreaterThan(0);
    const notices: unknown[] = [];
    const { records } = await streamRecords({
      run,
      receive: fileReceiver(target('stream')),
      checkpointFile: target('checkpoint'),
      once: true,
      signal: new AbortController().signal,
      sleep: () => Promise.resolve(),
      notice: (text) => notices.push(text),
    });
    expect(records).toBeGreaterThan(0);
    expect(notices).toEqual([message]);
    // All but the export of only the damaged tenant.
    expect(await readsOf(service.tenantId)).toBe(4);
    expect(await readsOf(damaged)).toBe(0);
    if (file === 'vault.db')
      expect((await service.service.state()).reasons.join()).toContain(`the row of tenant ${damaged}`);
  },
);

test('the keys of a damaged tenant do not matter for a list of the applications of another tenant', async () => {
  await reopenAfter('keys.db', 'UPDATE tenant_keys SET wrapped = zeroblob(60) WHERE tenant = ?');
  const { applications } = await run('applications-list', { tenantId: service.tenantId });
  expect(applications.length).toBeGreaterThan(0);
});
