import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { release } from '#src/queries/release.js';
import { tenantKeysOf } from '#src/vault/tenant-keys.js';
import { logs, operationsOn } from '../../http/routes/list-logs/support.js';
import { create, createPlain, path, uniqueId } from '../../http/routes/support.js';
import { embeddedOnly } from '../../support/profile.js';
import { startTestService, type TestService } from '../../support/test-service.js';
import { obstruct } from './support.js';

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

const unavailable = { status: 503, code: 'store_unavailable' };

async function answerOf(...call: Parameters<TestService['call']>) {
  const { status, body, text } = await service.call(...call);
  return { status, code: body['code'], ...(text.includes('the-value') ? { shows: 'the-value' } : {}) };
}

test('while the log cannot be written, no plaintext data is sent; masked reads and changes still work and are recorded later', async () => {
  const masked = await service.application(tokenPermissions);
  const { id } = await createPlain(service, { data: 'the-value' });
  const { undo } = await obstruct(service, '2026-01');

  expect(await answerOf('GET', path(id))).toEqual(unavailable);
  expect(await answerOf('PATCH', path(id), { metadata: { a: 'b' } }), 'an update shown in plaintext').toEqual(
    unavailable,
  );
  const body = { id: uniqueId(), type: 'token', data: 'the-value' };
  expect(await answerOf('POST', '/tokens', body), 'a creation shown in plaintext').toEqual(unavailable);
  expect(await answerOf('GET', path(id), undefined, { key: masked })).toEqual({ status: 200 });
  const other = await create(service, { id: uniqueId(), type: 'token', data: 'the-value' }, { key: masked });
  expect(await answerOf('DELETE', path(other.id), undefined, { key: masked })).toMatchObject({ status: 204 });
  expect(await answerOf('GET', '/health/ready')).toMatchObject({ status: 503 });

  undo();
  expect(await answerOf('GET', path(body.id))).toMatchObject({ status: 200, shows: 'the-value' });
  expect(await answerOf('GET', '/health/ready')).toMatchObject({ status: 200 });
  expect(await operationsOn(service, other.id)).toEqual(['create', 'delete']);
  expect(await operationsOn(service, id)).toEqual(
    expect.arrayContaining(['create', 'read failed', 'read', 'update', 'update failed']),
  );
  expect(service.errors.length, 'one report for one outage').toBe(1);
});

test('the vault does not write to a removed file again: it creates a new file, and the chain shows what is missing', async () => {
  const { id } = await createPlain(service);
  await service.call('GET', path(id));
  expect(await operationsOn(service, id)).toEqual(['create', 'reveal']);
  renameSync(join(service.dataDir, 'access-2026-01.db'), join(service.dataDir, 'aside'));
  expect(await answerOf('GET', path(id))).toMatchObject({ status: 200 });
  expect(await operationsOn(service, id)).toEqual(['reveal']);
  const [first] = await service.vault.accessLog.batches('vault', 0, 1);
  expect(first?.sequence).toBeGreaterThan(1);
});

test('a directory in place of the next month’s file prevents reveals only until it is removed', async () => {
  const { id } = await createPlain(service);
  service.clock.advance(24 * 3_600_000);
  const inTheWay = join(service.dataDir, 'access-2026-02.db');
  mkdirSync(inTheWay);
  expect(await answerOf('GET', path(id))).toEqual(unavailable);
  rmdirSync(inTheWay);
  expect(await answerOf('GET', path(id))).toMatchObject({ status: 200 });
});

for (const since of ['the service ran', 'before the start'] as const) {
  test(`a service that stops while the log cannot be written since ${since} keeps its entries for the next start`, async (context) => {
    embeddedOnly(context, 'a process of a cluster cannot store entries while MongoDB is down');
    const masked = await service.application(tokenPermissions);
    const { id } = await createPlain(service);
    const { dataDir, rootKey, managementKey } = service;
    const { undo } = await obstruct(service, '2026-01');
    if (since === 'before the start') {
      await service.stop();
      service = await startTestService({ dataDir, rootKey });
    }
    expect(await answerOf('DELETE', path(id), undefined, { key: masked })).toMatchObject({ status: 204 });
    await service.stop();
    undo();
    service = await startTestService({ dataDir, rootKey });
    const { body } = await service.call('GET', '/logs?entity_type=token&size=100', undefined, { key: managementKey });
    const entries = body['data'] as { operation: string; outcome: string }[];
    expect(entries.map(({ operation }) => operation)).toEqual(['delete', 'create']);
    expect(await service.vault.accessLog.missing?.(true)).toBeNull();
  });
}

test('after the log works again, it reports the records that were dropped', async () => {
  const masked = await service.application(tokenPermissions);
  const { id } = await createPlain(service);
  const { undo } = await obstruct(service, '2026-01');
  await service.call('GET', path(id));
  await readOften(masked, id);
  undo();
  await service.call('GET', path(id));
  const [loss] = await logs(service, { operation: 'loss' });
  expect(loss).toMatchObject({ entity_type: 'log', outcome: 'failed', actor_type: 'system' });
});

/**
 * Records more entries than the service can hold in memory. A client that sends many masked reads would have the same
 * effect.
 */
async function readOften(key: string, id: string): Promise<void> {
  const caller = await service.service.authenticate(key);
  if (caller === null) throw new Error('the key is not known');
  const { names } = await tenantKeysOf(service.vault, caller.tenantId);
  const stream = tokenStream(names, id);
  const shown = Array.from({ length: 1_000 }, () => ({ stream, transform: 'mask', recordedAs: 'read' }) as const);
  for (let count = 0; count < 21; count += 1)
    await release(service.vault, { caller, traceId: 'trace', beganAt: 0 }, shown);
}
