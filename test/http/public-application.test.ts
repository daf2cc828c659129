import { describe, expect } from 'vitest';
import { rule } from '../support/test-service.js';
import { card, create, expectRefusal, path, read, test } from './routes/support.js';

describe('a public application, whose key anybody may hold, creates and updates and sees nothing in clear', () => {
  test('with plain permissions it gets the mask of what it sent', async ({ service }) => {
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

  test('it may purge a cvc, and with a rule get back what it sent', async ({ service }) => {
    const rules = [rule('/pci/', 'reveal', ['token:create', 'token:update'])];
    const key = await service.application(rules, 'public');
    const { id, ...created } = await create(service, { type: 'card', data: card }, { key });
    expect(created['data']).toEqual(card);
    expect((await service.call('DELETE', `${path(id)}/cvc`, undefined, { key })).status).toBe(204);
  });
});
