import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { card, create, createPlain, eventsSince, path, test } from '../support.js';

describe('204 a token is deleted', () => {
  test('it no longer exists, its keys are destroyed, and one event records this', async ({ service }) => {
    const before = await service.eventCount();
    const { id, ...created } = await create(service, { type: 'card', data: card });
    const answer = await service.call('DELETE', `${path(id)}/`);
    expect(answer).toMatchObject({ status: 204, text: '' });
    const [made, deleted, ...others] = await eventsSince(service, before);
    const keys = [made?.clear['key'], made?.clear['cvc_key']].map(String);
    expect(deleted).toMatchObject({ type: 'token.deleted', actorId: created['created_by'], stream: made?.stream });
    expect(deleted?.clear).toEqual({ reason: 'request', ends: keys });
    expect(others).toEqual([]);
    for (const key of keys) {
      expect(await service.vault.keys.use(service.tenantId, key, () => null)).toEqual({ state: 'destroyed' });
    }
    expect((await service.call('GET', path(id))).status).toBe(404);
    expect((await service.call('DELETE', path(id))).status).toBe(404);
  });

  test('only one of many concurrent deletes finds the token', async ({ service }) => {
    const { id } = await createPlain(service);
    const before = await service.eventCount();
    const answers = await Promise.all(Array.from({ length: 10 }, () => service.call('DELETE', path(id))));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)]);
    expect(await service.eventCount()).toBe(before + 1);
  });

  test('a body or an idempotency key is ignored', async ({ service }) => {
    const headers = { 'idempotency-key': 'k'.repeat(300), 'content-type': 'text/plain' };
    for (const raw of ['{', '{"query":"x"}']) {
      const { id } = await createPlain(service);
      expect((await service.call('DELETE', path(id), undefined, { raw, headers })).status).toBe(204);
    }
  });

  test.for(['"0"', '*', '"5", "0"'])('If-Match %s', async (ifMatch, { service }) => {
    const { id } = await createPlain(service);
    expect((await service.call('DELETE', path(id), undefined, { headers: { 'if-match': ifMatch } })).status).toBe(204);
  });

  test('deleting does not require the permission to read', async ({ service }) => {
    const { id } = await createPlain(service);
    const key = await service.application([rule('/general/', 'redact', ['token:delete'])]);
    expect((await service.call('DELETE', path(id), undefined, { key })).status).toBe(204);
  });

  test('a concurrent create either starts the next life or finds the id in use', async ({ service }) => {
    const { id } = await createPlain(service);
    const create = () => service.call('POST', '/tokens', { id, type: 'token', data: 'next' });
    const [first, deleted, second] = await Promise.all([create(), service.call('DELETE', path(id)), create()]);
    const statuses = [first.status, second.status].sort();
    expect(deleted.status).toBe(204);
    expect(['201,409', '409,409']).toContain(String(statuses));
    expect((await service.call('GET', path(id))).status).toBe(statuses[0] === 201 ? 200 : 404);
  });
});
