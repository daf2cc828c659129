import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../support/test-service.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

test('201 a created card can be read back revealed', async () => {
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
  const created = await service.call('POST', '/tokens', { type: 'card', data });
  expect(created).toMatchObject({ status: 201, body: { type: 'card', data, containers: ['/pci/high/'] } });
  expect(created.headers['location']).toBe(`/tokens/${created.body['id']}`);
  const read = await service.call('GET', `/tokens/${created.body['id']}`);
  expect(read).toMatchObject({ status: 200, body: created.body });
});
