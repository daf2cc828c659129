import { describe, expect, onTestFinished } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { KeyLost } from '#src/vault/key-lost.js';
import { rowsAttacker } from '../../../commands/integrity/rows-attacker.js';
import { streamOf } from '../../../erasure/support.js';
import { embeddedOnly } from '../../../support/profile.js';
import { startTestService, type TestService } from '../../../support/test-service.js';
import { makeApplication, manage } from '../directory-support.js';
import { createPlain, eventsSince, path, test, uniqueId } from '../support.js';
import { logs, operationsOn } from './support.js';

/** Returns the operation and the outcome of each change to an entity of this type, oldest first. */
async function actsOn(service: Parameters<typeof logs>[0], entity_type: string) {
  const entries = await logs(service, { entity_type });
  return entries.map(({ operation, outcome }) => `${operation} ${outcome}`).reverse();
}

test('the access log records changes to an application, its rules and keys, and rejected attempts to change them', async ({
  service,
}) => {
  const { id, key } = await makeApplication(service);
  const rules = [{ description: '', priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }];
  await manage(service, 'PUT', `/applications/${id}`, { name: 'other', rules });
  const issued = await manage(service, 'POST', `/applications/${id}/keys`);
  await manage(service, 'DELETE', `/applications/${id}/keys/${issued.body['id']}`);
  await manage(service, 'GET', `/applications/${id}`);
  await manage(service, 'DELETE', `/applications/${id}`, undefined, service.key);
  await manage(service, 'DELETE', `/applications/${id}`);
  expect(key).not.toBe('');
  const acts = ['create', 'update', 'read', 'delete denied', 'delete'];
  expect(await operationsOn(service, id)).toEqual(acts);
  const keys = await actsOn(service, 'key');
  expect(keys.slice(-2)).toEqual(['create success', 'delete success']);
  const [entry] = await logs(service, { entity_id: id, operation: 'update' });
  expect(entry).toMatchObject({ actor_type: 'application', source_address: '127.0.0.1', trace_id: expect.any(String) });
});

test('the access log records changes to the tenant and reads of its reports', async ({ service }) => {
  await manage(service, 'PUT', '/tenants/self', { name: 'shop' });
  await manage(service, 'GET', '/tenants/self/reports/usage');
  await manage(service, 'GET', '/tenants/self/reports/usage', undefined, service.key);
  expect(await actsOn(service, 'tenant')).toContain('update success');
  expect(await actsOn(service, 'report')).toEqual(['read success', 'read denied']);
});

test('the access log records a request for a live token that failed with 500', async ({ service }) => {
  const before = await service.eventCount();
  const { id } = await createPlain(service, { id: uniqueId() });
  const [made] = await eventsSince(service, before);
  const keyId = String(made?.clear['key']);
  await service.vault.keys.destroy([{ keyId, eventId: '00000000-0000-0000-0000-000000000000' }]);
  expect((await service.call('GET', path(id))).status).toBe(500);
  expect(await operationsOn(service, id)).toEqual(['create', 'read failed']);
});

describe('a damaged token', () => {
  const logOf = async (service: TestService, key: string) => {
    const { status, text, body } = await service.call(
      'GET',
      '/logs?entity_type=token&operation=create&size=100',
      undefined,
      { key },
    );
    expect(status, text).toBe(200);
    return (body['data'] as JsonObject[]).map(({ operation, entity_id = null }) => `${operation} ${entity_id}`);
  };

  test('whose key is lost does not hide the evidence: its entry lacks the id', async () => {
    const service = await startTestService();
    onTestFinished(service.close);
    const before = await service.eventCount();
    await createPlain(service, { id: 'damaged' });
    const [made] = await eventsSince(service, before);
    await createPlain(service, { id: 'intact' });
    const keyId = String(made?.clear['key']);
    await service.vault.keys.destroy([{ keyId, eventId: '00000000-0000-0000-0000-000000000000' }]);
    expect(await logOf(service, service.managementKey)).toEqual(['create intact', 'create null']);
    expect((await service.service.state()).reasons).toContain('token keys are lost');
    expect(service.errors).toEqual([expect.any(KeyLost)]);
  });

  test('whose row is forged does not hide the evidence: its entry lacks the id', async ({ skip }) => {
    embeddedOnly({ skip }, 'the test restarts the service, so that it reads the row again');
    const before = await startTestService();
    await createPlain(before, { id: 'damaged' });
    await createPlain(before, { id: 'intact' });
    const stream = await streamOf(before, 'damaged');
    const attacker = await rowsAttacker(before);
    await attacker.editToken(stream, (life) => ({ ...life, createdBy: 'nobody' }));
    await attacker.close();
    await before.stop();
    const service = await startTestService({ dataDir: before.dataDir, rootKey: before.rootKey, clock: before.clock });
    onTestFinished(service.close);
    expect(await logOf(service, before.managementKey)).toEqual(['create intact', 'create null']);
    expect(service.errors.map(String)).toEqual([`ForgedRow: the row of token ${stream} is not authentic`]);
    expect((await service.service.state()).reasons.join()).toContain(`the row of token ${stream}`);
  });
});
