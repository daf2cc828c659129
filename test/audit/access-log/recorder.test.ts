import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createAccessRecorder } from '#src/audit/access-log/access-recorder.js';
import { recordForAllTenants } from '#src/audit/access-log/record-for-all-tenants.js';
import type { NewAccessEntry } from '#src/events/access-log/access-entry.js';
import { anEntry } from '../../contract/access-log.js';
import { startTestService } from '../../support/test-service.js';

test('entries that are being written count towards the limit on entries in memory', async () => {
  const recorded: NewAccessEntry[] = [];
  let finish = (): void => undefined;
  const isSlow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const log = {
    async record(entries: readonly NewAccessEntry[]) {
      await isSlow;
      recorded.push(...entries);
    },
  };
  const recorder = createAccessRecorder(log, (error) => {
    throw error;
  });
  const page = Array.from({ length: 1_000 }, () => anEntry({ tenantId: 'one' }));
  for (let count = 0; count < 20; count += 1) recorder.soon(page);
  recorder.soon([anEntry({ tenantId: 'other' })]);
  finish();
  await recorder.close();
  expect(recorded.filter(({ tenantId }) => tenantId === 'one')).toHaveLength(20_000);
  expect(recorded.filter(({ tenantId }) => tenantId === 'other').map(({ operation }) => operation)).toEqual(['loss']);
});

test('a start is recorded for more tenants than there may be entries in memory', async () => {
  const recorded: NewAccessEntry[] = [];
  const log = {
    async record(entries: readonly NewAccessEntry[]) {
      await nextTurn();
      recorded.push(...entries);
    },
  };
  const recorder = createAccessRecorder(log, (error) => {
    throw error;
  });
  const service = await startTestService();
  const { vault, tenantId } = service;
  const [tenant] = await vault.directory.check('tenant');
  const tenantKeys = await vault.keys.tenantKeys(tenantId);
  if (tenant === undefined) throw new Error('the service has a tenant');
  const tenants = Array.from({ length: 20_500 }, () => ({ ...tenant, record: { ...tenant.record, id: randomUUID() } }));
  const directory = { ...vault.directory, check: async () => tenants };
  const keys = { ...vault.keys, tenantKeys: () => tenantKeys };
  await recordForAllTenants({ ...vault, directory, keys, recorder }, 'start');
  await recorder.close();
  await service.close();
  expect(recorded.filter(({ operation }) => operation === 'loss')).toEqual([]);
  expect(recorded).toHaveLength(tenants.length);
});

test('a start is recorded for 16 tenants at the same time', async () => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const { vault, tenantId } = service;
  const [tenant] = await vault.directory.check('tenant');
  const tenantKeys = await vault.keys.tenantKeys(tenantId);
  if (tenant === undefined) throw new Error('the service has a tenant');
  const tenants = Array.from({ length: 600 }, () => ({ ...tenant, record: { ...tenant.record, id: randomUUID() } }));
  const directory = { ...vault.directory, check: async () => tenants };
  let open = 0;
  let openMax = 0;
  const keys = {
    ...vault.keys,
    async tenantKeys() {
      open += 1;
      openMax = Math.max(openMax, open);
      await nextTurn();
      open -= 1;
      return tenantKeys;
    },
  };
  const recorded = new Set<string>();
  const recorder = {
    ...vault.recorder,
    soon: (entries: readonly NewAccessEntry[]) => void recorded.add(String(entries[0]?.tenantId)),
  };
  await recordForAllTenants({ ...vault, directory, keys, recorder }, 'start');
  expect(openMax).toBe(16);
  expect(recorded).toEqual(new Set(tenants.map(({ record }) => record.id)));
});
