import { describe, expect } from 'vitest';
import { makeApplication, makeManager, manage, ownId, statusOf } from '../directory-support.js';
import { logs } from '../list-logs/support.js';
import { expectRefusal, hourMs, test, uniqueId } from '../support.js';

const body = { name: 'once', type: 'private', permissions: ['token:read'] };
const gone = { status: 404, code: 'idempotent_result_gone' };

describe('an idempotency key on POST /applications', () => {
  test('a retry creates nothing, and returns the same body without the key', async ({ service }) => {
    const send = withKey(service, '/applications', body);
    const first = await send();
    const before = await service.eventCount();
    const repeat = await send();
    expect(await service.eventCount()).toBe(before);
    const { key, ...rest } = first.body;
    expect(key).toMatch(/^sr_private_/);
    expect({ status: repeat.status, body: repeat.body }).toEqual({ status: 201, body: rest });
    expect(repeat.headers['location']).toBe(first.headers['location']);
  });

  test('many concurrent requests create one application; the others wait or get 409', async ({ service }) => {
    const send = withKey(service, '/applications', body);
    const before = await manage(service, 'GET', '/applications');
    const answers = await Promise.all(Array.from({ length: 8 }, send));
    expect(answers.filter(({ status }) => ![201, 409].includes(status))).toEqual([]);
    expect(answers.filter(({ body: { key } }) => key !== undefined)).toHaveLength(1);
    const after = await manage(service, 'GET', '/applications');
    expect(total(after)).toBe(total(before) + 1);
  });

  test('a rejection is not recorded, so a corrected request can use the same key', async ({ service }) => {
    const key = uniqueId();
    expect((await withKey(service, '/applications', { ...body, name: '' }, key)()).status).toBe(400);
    expect((await withKey(service, '/applications', body, key)()).status).toBe(201);
  });

  test('a retry after the application was deleted returns 404', async ({ service }) => {
    const send = withKey(service, '/applications', body);
    const { id } = (await send()).body;
    await manage(service, 'DELETE', `/applications/${id}`);
    await expectRefusal(service, send, gone);
  });

  test('the idempotency key can be used again after 24 hours', async ({ service }) => {
    const send = withKey(service, '/applications', body);
    const first = await send();
    service.clock.advance(24 * hourMs + 1);
    const again = await send();
    expect(again.status).toBe(201);
    expect(again.body['id']).not.toBe(first.body['id']);
    expect(await statusOf(service, String(again.body['key']))).toBe(200);
  });

  test('a key of 201 characters returns 400', async ({ service }) => {
    const send = withKey(service, '/applications', body, 'x'.repeat(201));
    const paths = ['SERVICE-IDEMPOTENCY-KEY'];
    await expectRefusal(service, send, { status: 400, code: 'validation_failed', paths });
  });
});

describe('a retry after the application was changed', () => {
  const changed = { name: 'renamed', permissions: ['token:delete'], expires_at: '2027-01-01T00:00:00Z' };

  test('does not show the changes to a caller without application:read', async ({ service }) => {
    const { key } = await makeManager(service, ['application:create']);
    const send = withKey(service, '/applications', body, uniqueId(), key);
    const { id, tenant_id, type, created_by, created_at } = (await send()).body;
    await manage(service, 'PUT', `/applications/${id}`, changed);
    const retry = await send();
    expect({ status: retry.status, body: retry.body }).toEqual({
      status: 201,
      body: { id, tenant_id, type, created_by, created_at },
    });
    expect(retry.headers['location']).toBe(`/applications/${id}`);
  });

  test('shows the changed application to a caller with application:read, and records a read', async ({ service }) => {
    const { key } = await makeManager(service, ['application:create', 'application:read']);
    const send = withKey(service, '/applications', body, uniqueId(), key);
    const { id } = (await send()).body;
    await manage(service, 'PUT', `/applications/${id}`, changed);
    const { body: stored } = await manage(service, 'GET', `/applications/${id}`);
    const before = await readsBy(service, key);
    const retry = await send();
    expect({ status: retry.status, body: retry.body }).toEqual({ status: 201, body: stored });
    expect(await readsBy(service, key)).toEqual([...before, id]);
  });
});

describe('an idempotency key on POST /applications/{id}/keys', () => {
  test('a retry issues nothing and returns no key; after the key was revoked, it returns 404', async ({ service }) => {
    const { id } = await makeApplication(service);
    const send = withKey(service, `/applications/${id}/keys`);
    const first = await send();
    const { key, ...rest } = first.body;
    expect(await statusOf(service, String(key))).toBe(200);
    const before = await service.eventCount();
    expect((await send()).body).toEqual(rest);
    expect(await service.eventCount()).toBe(before);
    await manage(service, 'DELETE', `/applications/${id}/keys/${first.body['id']}`);
    await expectRefusal(service, send, gone);
  });

  test('applies only to its own application', async ({ service }) => {
    const [a, b] = [await makeApplication(service), await makeApplication(service)];
    const key = uniqueId();
    const answers = [a, b].map(({ id }) => withKey(service, `/applications/${id}/keys`, undefined, key)());
    for (const answer of await Promise.all(answers)) expect(answer.body['key']).toBeDefined();
  });
});

type Service = Parameters<typeof manage>[0];

function withKey(
  service: Service,
  url: string,
  content?: object,
  idempotencyKey = uniqueId(),
  key = service.managementKey,
) {
  const headers = { 'service-idempotency-key': idempotencyKey };
  return () => service.call('POST', url, content, { key, headers });
}

/** Returns the ids of the applications that the key's application has read. */
async function readsBy(service: Service, key: string) {
  const actor = await ownId(service, key);
  const entries = await logs(service, { entity_type: 'application', operation: 'read' });
  return entries.flatMap((entry) => (entry['actor_id'] === actor ? [entry['entity_id']] : []));
}

function total({ body: { pagination } }: { readonly body: { readonly [field: string]: unknown } }): number {
  return Number((pagination as { readonly total_items: number }).total_items);
}
