import { describe, expect } from 'vitest';
import { rule } from '../support/test-service.js';
import { card, create, expectRefusal, invalid, path, read, test } from './routes/support.js';

describe('a public application can create and update tokens but sees no plaintext data, because its key may become public', () => {
  test('with plain permissions, it gets the mask of what it sent', async ({ service }) => {
    const key = await service.application(['token:create', 'token:update'], 'public');
    const masked = { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 };
    const { id, ...created } = await create(service, { type: 'card', data: card }, { key });
    expect(created['data']).toEqual(masked);
    const updated = await service.call('PATCH', path(id), { data: { expiration_month: 1 } }, { key });
    expect(updated).toMatchObject({ status: 200, body: { data: { ...masked, expiration_month: 1 } } });
    const missing = { status: 403, code: 'permission_missing' };
    await expectRefusal(service, () => service.call('GET', path(id), undefined, { key }), missing);
    await expectRefusal(service, () => service.call('DELETE', path(id), undefined, { key }), missing);
    expect((await read(service, id))['data']).toEqual({ ...card, expiration_month: 1 });
  });

  test.for([
    ['POST', '/applications', { name: 'x', type: 'public' }],
    ['PUT', null, { name: 'x' }],
  ] as const)('%s rejects a rule that grants it reveal', async ([method, url, fields], { service }) => {
    const key = service.managementKey;
    const good = { container: '/', transform: 'mask', permissions: ['token:update'] };
    const made = await service.call('POST', '/applications', { name: 'x', type: 'public', rules: [good] }, { key });
    const rules = [good, { ...good, transform: 'reveal' }];
    await expectRefusal(
      service,
      () => service.call(method, url ?? `/applications/${made.body['id']}`, { ...fields, rules }, { key }),
      invalid('rules[1].transform'),
    );
  });

  test('a PATCH with {} shows it no value, whatever rules it once had', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const key = await service.application([rule('/', 'reveal', ['token:create', 'token:update'])], 'public');
    const { status, text, body } = await service.call('PATCH', path(id), {}, { key });
    expect(status, text).toBe(200);
    expect(text).not.toContain(card.number);
    expect(body).not.toHaveProperty('fingerprint');
  });

  test('it may purge a cvc, and gets back the mask of what it sent', async ({ service }) => {
    const rules = [rule('/pci/', 'mask', ['token:create', 'token:update'])];
    const key = await service.application(rules, 'public');
    const { id, ...created } = await create(service, { type: 'card', data: card }, { key });
    expect(created['data']).toMatchObject({ number: 'XXXXXXXXXXXX4242' });
    expect((await service.call('DELETE', `${path(id)}/cvc`, undefined, { key })).status).toBe(204);
  });
});
