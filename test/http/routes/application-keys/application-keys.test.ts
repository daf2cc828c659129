import { describe, expect } from 'vitest';
import {
  arrayOf,
  makeApplication,
  makeManager,
  manage,
  ownId,
  statusOf,
  timestamp,
  uuid,
} from '../directory-support.js';
import { eventsSince, expectRefusal, minuteMs, test } from '../support.js';

const notFound = { status: 404, code: 'application_not_found' };
const exceeds = { status: 403, code: 'exceeds_own_permissions' };

describe('POST /applications/{id}/keys', () => {
  test('201 shows the new key only in this response, and the key works like the first one', async ({ service }) => {
    const { id, key: first } = await makeApplication(service);
    const answer = await manage(service, 'POST', `/applications/${id}/keys`);
    expect(answer.status, answer.text).toBe(201);
    const created_by = await ownId(service, service.managementKey);
    const key = expect.stringMatching(/^sr_private_[0-9A-Za-z]{49}$/);
    expect(answer.body).toEqual({ id: uuid, key, created_by, created_at: timestamp });
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      location: `/applications/${id}/keys/${answer.body['id']}`,
    });
    expect(await ownId(service, String(answer.body['key']))).toBe(id);
    expect(await ownId(service, first)).toBe(id);
  });

  test('409 for a fourth key, which is not stored; after a key is revoked, another one can be issued', async ({
    service,
  }) => {
    const { id } = await makeApplication(service);
    const issue = () => manage(service, 'POST', `/applications/${id}/keys`);
    const { body } = await issue();
    await issue();
    await expectRefusal(service, issue, { status: 409, code: 'too_many_keys' });
    await manage(service, 'DELETE', `/applications/${id}/keys/${body['id']}`);
    expect((await issue()).status).toBe(201);
  });

  test('403 for an application with more permissions, 404 for an application of another tenant', async ({
    service,
  }) => {
    const { key } = await makeManager(service, ['application:create']);
    const strong = await ownId(service, service.managementKey);
    const take = (id: string) => () => manage(service, 'POST', `/applications/${id}/keys`, undefined, key);
    await expectRefusal(service, take(strong), exceeds);
    await expectRefusal(service, take(await ownId(service, await service.otherTenant())), notFound);
    await expectRefusal(service, take('unknown'), notFound);
  });
});

describe('GET /applications/{id}/keys', () => {
  test('200 with an array that describes each key, without the key or its hash', async ({ service }) => {
    const { id, key } = await makeApplication(service);
    const issued = await manage(service, 'POST', `/applications/${id}/keys`);
    const answer = await manage(service, 'GET', `/applications/${id}/keys`);
    const created_by = await ownId(service, service.managementKey);
    const entry = { id: uuid, created_by, created_at: timestamp };
    expect(arrayOf(answer)).toEqual([entry, entry]);
    expect(arrayOf(answer)[1]).toMatchObject({ id: issued.body['id'] });
    for (const secret of [key, String(issued.body['key']), 'sr_', 'hash']) expect(answer.text).not.toContain(secret);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('200 shows the minute of last use, which is written once per minute and appends no event', async ({
    service,
  }) => {
    const { id, key } = await makeApplication(service);
    const lastUse = async () => arrayOf(await manage(service, 'GET', `/applications/${id}/keys`))[0]?.['last_used_at'];
    expect(await lastUse()).toBeUndefined();
    const before = await service.eventCount();
    await statusOf(service, key);
    const minute = () => new Date(service.clock.now()).toISOString().replace(/:\d\d\.\d+Z$/, ':00.000+00:00');
    const first = minute();
    await expect.poll(lastUse).toBe(first);
    service.clock.advance(minuteMs);
    expect(await lastUse()).toBe(first);
    await statusOf(service, key);
    await expect.poll(lastUse).toBe(minute());
    expect(await service.eventCount()).toBe(before);
  });

  test('404 for another tenant’s application', async ({ service }) => {
    const foreign = await ownId(service, await service.otherTenant());
    await expectRefusal(service, () => manage(service, 'GET', `/applications/${foreign}/keys`), notFound);
  });
});

describe('DELETE /applications/{id}/keys/{key_id}', () => {
  test('204 makes the key stop working immediately, while the others keep working; a second request returns 404', async ({
    service,
  }) => {
    const { id, key } = await makeApplication(service);
    const second = String((await manage(service, 'POST', `/applications/${id}/keys`)).body['key']);
    const [first] = arrayOf(await manage(service, 'GET', `/applications/${id}/keys`));
    expect(await statusOf(service, key)).toBe(200);
    const before = await service.eventCount();
    const revoke = () => manage(service, 'DELETE', `/applications/${id}/keys/${first?.['id']}`);
    expect(await revoke()).toMatchObject({ status: 204, text: '' });
    expect([await statusOf(service, key), await statusOf(service, second)]).toEqual([401, 200]);
    const clear = { application_id: id, key_id: first?.['id'] };
    expect(await eventsSince(service, before)).toMatchObject([{ type: 'application.key.revoked', clear }]);
    await expectRefusal(service, revoke, { status: 404, code: 'application_key_not_found' });
  });

  test('404 for a key that belongs to another application or tenant', async ({ service }) => {
    const [mine, other] = [await makeApplication(service), await makeApplication(service)];
    const [key] = arrayOf(await manage(service, 'GET', `/applications/${other.id}/keys`));
    const url = `/applications/${mine.id}/keys/${key?.['id']}`;
    await expectRefusal(service, () => manage(service, 'DELETE', url), {
      status: 404,
      code: 'application_key_not_found',
    });
    const foreign = await ownId(service, await service.otherTenant());
    await expectRefusal(service, () => manage(service, 'DELETE', `/applications/${foreign}/keys/x`), notFound);
  });

  test('403 for a key whose application has more permissions than the caller', async ({ service }) => {
    const { key } = await makeManager(service, ['application:delete']);
    const strong = await ownId(service, service.managementKey);
    const url = `/applications/${strong}/keys/x`;
    await expectRefusal(service, () => manage(service, 'DELETE', url, undefined, key), exceeds);
  });

  test('409 for the last key of the last administrator', async ({ service }) => {
    const id = await ownId(service, service.managementKey);
    const [key] = arrayOf(await manage(service, 'GET', `/applications/${id}/keys`));
    const send = () => manage(service, 'DELETE', `/applications/${id}/keys/${key?.['id']}`);
    await expectRefusal(service, send, { status: 409, code: 'last_administrator' });
  });
});
