import { describe, expect } from 'vitest';
import type { ManagementPermission } from '#src/domain/access/permission.js';
import { timestamp, uuid } from '../directory-support.js';
import { expectRefusal, invalid, test } from '../support.js';

const url = 'https://shop.example/hook';
const valid = { url, event_types: ['token.created'] };

describe('/webhooks', () => {
  test('creates, reads, lists, updates and deletes a webhook, and shows its secret only once', async ({ service }) => {
    const as = { key: service.managementKey };
    const body = { ...valid, description: 'shop', token_types: ['card'], containers: ['/PCI/'] };
    const created = await service.call('POST', '/webhooks', body, as);
    const { secret, ...shown } = created.body;
    expect(created.status, created.text).toBe(201);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toEqual({
      id: uuid,
      tenant_id: service.tenantId,
      url,
      description: 'shop',
      enabled: true,
      event_types: ['token.created'],
      token_types: ['card'],
      containers: ['/pci/'],
      created_by: uuid,
      created_at: timestamp,
    });
    const path = `/webhooks/${shown['id']}`;
    expect(created.headers['location']).toBe(path);
    expect((await service.call('GET', path, undefined, as)).body).toEqual(shown);
    const second = await service.call('POST', '/webhooks', valid, as);
    const listed = await service.call('GET', '/webhooks?size=1', undefined, as);
    expect(listed.body['pagination']).toMatchObject({ total_items: 2, total_pages: 2 });
    expect(listed.body['data']).toMatchObject([{ id: second.body['id'] }]);
    expect(listed.text).not.toContain('whsec_');
    const updated = await service.call('PUT', path, { ...valid, enabled: false }, as);
    expect(updated.body).toMatchObject({ enabled: false, modified_at: timestamp });
    expect(updated.body).not.toHaveProperty('containers');
    const rotated = await service.call('POST', `${path}/secret`, {}, as);
    expect(rotated.body['secret']).not.toBe(secret);
    expect(rotated.body['old_secrets_end_at']).toEqual(timestamp);
    const byDefault = await service.call('POST', `${path}/secret`, undefined, as);
    expect(byDefault.body['secret']).toMatch(/^whsec_/);
    expect(byDefault.body['secret']).not.toBe(rotated.body['secret']);
    expect((await service.call('GET', `${path}/deliveries`, undefined, as)).body['data']).toEqual([]);
    expect((await service.call('DELETE', path, undefined, as)).status).toBe(204);
    expect((await service.call('DELETE', `/webhooks/${second.body['id']}`, undefined, as)).status).toBe(204);
    expect((await service.call('GET', path, undefined, as)).status).toBe(404);
  });

  test('names the required fields that are missing', async ({ service }) => {
    const { body } = await service.call('POST', '/webhooks', {}, { key: service.managementKey });
    expect(body['errors']).toEqual({ url: ['is required'], event_types: ['is required'] });
  });

  test.for([
    ['https://example.com:99999/', 'must be a valid URL, such as https://example.com/events'],
    ['https://exa mple.com/', 'must be a valid URL, such as https://example.com/events'],
    ['notaurl', 'must be a valid URL, such as https://example.com/events'],
    [`https://example.com/${'a'.repeat(1_981)}`, 'must have at most 2000 characters, also after percent-encoding'],
    [`https://example.com/${'ä'.repeat(700)}`, 'must have at most 2000 characters, also after percent-encoding'],
  ] as const)('says what is wrong with a URL, case %#', async ([url, message], { service }) => {
    const { status, body } = await service.call('POST', '/webhooks', { ...valid, url }, { key: service.managementKey });
    expect([status, body['errors']]).toEqual([400, { url: [message] }]);
  });

  test('rejects an eleventh webhook', async ({ service }) => {
    const as = { key: service.managementKey };
    const made: unknown[] = [];
    for (let count = 0; count < 10; count += 1) {
      made.push((await service.call('POST', '/webhooks', valid, as)).body['id']);
    }
    const send = () => service.call('POST', '/webhooks', valid, as);
    await expectRefusal(service, send, { status: 409, code: 'too_many_webhooks' });
    for (const id of made) await service.call('DELETE', `/webhooks/${id}`, undefined, as);
  });

  test.for<[string, object, string[]]>([
    ['no address', { event_types: ['token.created'] }, ['url']],
    ['a string that is not an address', { ...valid, url: 'shop' }, ['url']],
    ['an address that is too long', { ...valid, url: `${url}/${'a'.repeat(2_000)}` }, ['url']],
    ['an address that is too long once it is percent-encoded', { ...valid, url: `${url}/${'é'.repeat(400)}` }, ['url']],
    ['a plain HTTP address', { ...valid, url: 'http://shop.example/' }, ['url']],
    ['a private address', { ...valid, url: 'https://10.0.0.1/' }, ['url']],
    ['loopback in another notation', { ...valid, url: 'https://0x7f000001/' }, ['url']],
    ['an address with a user', { ...valid, url: 'https://user@shop.example/' }, ['url']],
    ['an address with a password', { ...valid, url: 'https://:pass@shop.example/' }, ['url']],
    ['no events', { url }, ['event_types']],
    ['an empty list of events', { ...valid, event_types: [] }, ['event_types']],
    ['an unknown event', { ...valid, event_types: ['token.read'] }, ['event_types']],
    ['too many events', { ...valid, event_types: Array(101).fill('token.created') }, ['event_types']],
    ['an unknown token type', { ...valid, token_types: ['cash'] }, ['token_types']],
    ['an invalid container', { ...valid, containers: ['pci'] }, ['containers[0]']],
    ['too many containers', { ...valid, containers: Array.from({ length: 11 }, (_, i) => `/${i}/`) }, ['containers']],
    ['a string that is too long', { ...valid, description: 'x'.repeat(201) }, ['description']],
    ['a control character', { ...valid, description: 'a\u0007' }, ['description']],
    ['a value that is not a boolean', { ...valid, enabled: 'yes' }, ['enabled']],
  ])('rejects %s in a create and in an update', async ([, body, paths], { service }) => {
    const as = { key: service.managementKey };
    await expectRefusal(service, () => service.call('POST', '/webhooks', body, as), invalid(...paths));
    const made = await service.call('POST', '/webhooks', valid, as);
    const path = `/webhooks/${made.body['id']}`;
    await expectRefusal(service, () => service.call('PUT', path, body, as), invalid(...paths));
    await service.call('DELETE', path, undefined, as);
  });

  test.for([-1, 604_801, 1.5, 'x'])('rejects an overlap of %s', async (overlap_seconds, { service }) => {
    const as = { key: service.managementKey };
    const send = () => service.call('POST', '/webhooks/unknown/secret', { overlap_seconds }, as);
    await expectRefusal(service, send, invalid('overlap_seconds'));
  });

  test('rejects an unknown outcome in the filter of deliveries', async ({ service }) => {
    const as = { key: service.managementKey };
    const send = () => service.call('GET', '/webhooks/unknown/deliveries?outcome=lost', undefined, as);
    await expectRefusal(service, send, invalid('outcome'));
  });

  const operations = [
    ['POST', '/webhooks', 'webhook:create', valid],
    ['GET', '/webhooks', 'webhook:read', undefined],
    ['GET', '/webhooks/{id}', 'webhook:read', undefined],
    ['GET', '/webhooks/{id}/deliveries', 'webhook:read', undefined],
    ['PUT', '/webhooks/{id}', 'webhook:update', valid],
    ['POST', '/webhooks/{id}/secret', 'webhook:update', {}],
    ['POST', '/webhooks/{id}/test', 'webhook:update', undefined],
    ['DELETE', '/webhooks/{id}', 'webhook:delete', undefined],
  ] as const;
  const all: readonly ManagementPermission[] = ['webhook:create', 'webhook:read', 'webhook:update', 'webhook:delete'];

  test.for(operations)(
    '%s %s requires a key and its permission',
    async ([method, template, needed, body], { service }) => {
      const path = template.replace('{id}', 'unknown');
      const keyless = () => service.call(method, path, body, { key: null });
      await expectRefusal(service, keyless, { status: 401, code: 'unauthenticated' });
      const others = all.filter((permission) => permission !== needed);
      for (const key of [await service.application(others, 'management'), service.key]) {
        const send = () => service.call(method, path, body, { key });
        await expectRefusal(service, send, { status: 403, code: 'permission_missing' });
      }
      const allowed = await service.call(method, path, body, {
        key: await service.application([needed], 'management'),
      });
      expect([200, 201, 404]).toContain(allowed.status);
    },
  );

  test.for(operations.filter(([, path]) => path.includes('{id}')))(
    '%s %s does not find another tenant’s webhook',
    async ([method, template, , body], { service }) => {
      const made = await service.call('POST', '/webhooks', valid, { key: service.managementKey });
      const path = template.replace('{id}', String(made.body['id']));
      const key = await service.otherManagement();
      const send = () => service.call(method, path, body, { key });
      await expectRefusal(service, send, { status: 404, code: 'webhook_not_found' });
      await service.call('DELETE', `/webhooks/${made.body['id']}`, undefined, { key: service.managementKey });
    },
  );

  test('stores the address and the secret encrypted', async ({ service }) => {
    const as = { key: service.managementKey };
    const made = await service.call('POST', '/webhooks', valid, as);
    const events = await service.vault.log.readAll(0, 1_000_000);
    const stored = events.find(({ clear }) => clear['webhook_id'] === made.body['id']);
    expect(stored?.clear).toEqual({ webhook_id: made.body['id'] });
    const bytes = Buffer.from(stored?.sealed.content ?? []).toString('latin1');
    expect(bytes.length).toBeGreaterThan(100);
    expect(bytes).not.toContain('shop.example');
    await service.call('DELETE', `/webhooks/${made.body['id']}`, undefined, as);
  });
});
