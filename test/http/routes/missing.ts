import { describe, expect } from 'vitest';
import { type Answer, rule, type TestService } from '../../support/test-service.js';
import { create, expectRefusal, hourMs, path, test, uniqueId } from './support.js';

type Call = (service: TestService, path: string, options?: { key: string }) => Promise<Answer>;

const missing = { status: 404, code: 'token_not_found' };

/** Tests that a route returns 404 if the token does not exist. `call` sends a request that would succeed for a card. */
export function missesTokens(call: Call): void {
  const card = { type: 'card', data: { number: '4242424242424242' } };

  describe('404 for a token that does not exist, with the same text for every reason', () => {
    test('unknown, even with an id that no token can have', async ({ service }) => {
      const ids = ['unknown', 'ab', 'a/b', '{{ data }}', 'a'.repeat(1_600), '\u0000\u0001\u0002', '../x', 'a%b'];
      for (const id of ids) await expectRefusal(service, () => call(service, path(id)), missing);
    });

    test('deleted', async ({ service }) => {
      const { id } = await create(service, card);
      await service.call('DELETE', path(id));
      await expectRefusal(service, () => call(service, path(id)), missing);
    });

    test('expired, from its expiry on, even before the expiry is recorded', async ({ service }) => {
      const expires_at = new Date(service.clock.now() + hourMs).toISOString();
      const { id } = await create(service, { ...card, id: uniqueId(), expires_at });
      service.clock.advance(hourMs);
      await expectRefusal(service, () => call(service, path(id)), missing);
      const key = await service.application([
        rule('/other/', 'reveal', ['token:read', 'token:update', 'token:delete']),
      ]);
      await expectRefusal(service, () => call(service, path(id), { key }), missing);
      await service.service.sweep.run();
      await expectRefusal(service, () => call(service, path(id)), missing);
    });

    test('one millisecond before its expiry, the token still exists', async ({ service }) => {
      const expires_at = new Date(service.clock.now() + hourMs).toISOString();
      const { id } = await create(service, { ...card, expires_at });
      service.clock.advance(hourMs - 1);
      const answer = await call(service, path(id));
      expect(answer.status, answer.text).toBeLessThan(300);
    });

    test('another tenant’s, with the same text', async ({ service }) => {
      const { id } = await create(service, card);
      const key = await service.otherTenant();
      const other = await expectRefusal(service, () => call(service, path(id), { key }), missing);
      const unknown = await expectRefusal(service, () => call(service, path('unknown'), { key }), missing);
      expect({ ...other.body, instance: '' }).toEqual({ ...unknown.body, instance: '' });
      expect((await service.call('GET', path(id))).status, 'it is still there').toBe(200);
    });
  });

  describe('400 for a path that cannot be decoded', () => {
    test.for(['%zz', '%', '%E0%A4%A', '%ff%fe%fd'])('/tokens/%s', async (id, { service }) => {
      const headers = { 'service-trace-id': 'trace-of-mine' };
      const response = await service.app.inject({ method: 'GET', url: `/tokens/${id}`, headers });
      expect(response.statusCode, response.body).toBe(400);
      expect(response.json()).toMatchObject({ code: 'malformed_request', instance: 'urn:trace:trace-of-mine' });
      expect(response.headers['service-trace-id']).toBe('trace-of-mine');
    });
  });
}
