import { describe, expect } from 'vitest';
import { startTestService } from '../../../support/test-service.js';
import { makeManager, manage } from '../directory-support.js';
import { create, hourMs, test } from '../support.js';

describe('200 GET /tenants/self/reports/usage', () => {
  test('counts live tokens immediately, without deleted tokens, expired tokens before a sweep, and other tenants’ tokens', async () => {
    const service = await startTestService();
    try {
      const { key } = await makeManager(service, ['report:read']);
      const report = async () => (await manage(service, 'GET', '/tenants/self/reports/usage', undefined, key)).body;
      expect(await report()).toEqual({ token_report: { tokens_total: 0, tokens_by_type: {} } });
      const expires_at = new Date(service.clock.now() + hourMs).toISOString();
      const ssn = { type: 'social_security_number', data: '123-45-6789', expires_at };
      const { id } = await create(service, { type: 'token', data: 1 });
      await create(service, { type: 'token', data: 2 });
      await create(service, { ...ssn, id: 'same-id' });
      await create(service, { type: 'token', data: 3 }, { key: await service.otherTenant() });
      expect(await report()).toEqual({
        token_report: { tokens_total: 3, tokens_by_type: { token: 2, social_security_number: 1 } },
      });
      await service.call('PATCH', `/tokens/${id}`, { data: 'other' });
      await service.call('DELETE', `/tokens/${id}`);
      service.clock.advance(hourMs);
      const one = { token_report: { tokens_total: 1, tokens_by_type: { token: 1 } } };
      expect(await report()).toEqual(one);
      await create(service, { type: 'card_number', data: '4242424242424242', id: 'same-id' });
      const two = { token_report: { tokens_total: 2, tokens_by_type: { token: 1, card_number: 1 } } };
      expect(await report()).toEqual(two);
      await service.service.sweep.run();
      expect(await report()).toEqual(two);
    } finally {
      await service.close();
    }
  });

  test('must not be cached', async ({ service }) => {
    const answer = await manage(service, 'GET', '/tenants/self/reports/usage');
    expect(answer.headers['cache-control']).toBe('no-store');
  });
});
