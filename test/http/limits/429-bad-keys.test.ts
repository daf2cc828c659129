import { expect, test, vi } from 'vitest';
import type { TestService } from '../../support/test-service.js';
import { expectRefusal } from '../routes/support.js';
import { limitedService, metric, statuses } from './support.js';

const limited = { status: 429, code: 'too_many_bad_keys' };
const ask = (service: TestService, key: string | null, address = '203.0.113.7', forwardedFor?: string) =>
  service.call('GET', '/tokens/unknown', undefined, {
    key,
    address,
    ...(forwardedFor === undefined ? {} : { headers: { 'x-forwarded-for': forwardedFor } }),
  });

test('an address without a valid key gets 401 up to the limit, and then 429 until the window ends', async () => {
  const service = await limitedService({ authFailures: 3 });
  expect(await statuses(2, () => ask(service, null))).toEqual([401, 401]);
  expect(await statuses(2, () => ask(service, 'sr_private_nonsense'))).toEqual([401, 429]);
  const { headers } = await expectRefusal(service, () => ask(service, null), limited);
  expect(headers['retry-after']).toBe('10');
  expect(await metric(service, 'strongroom_rate_limited_total{limit="auth_failures"}')).toBe(2);
  service.clock.advance(10_000);
  expect((await ask(service, null)).status).toBe(401);
});

test('a valid key from the same address is never limited', async () => {
  const service = await limitedService({ authFailures: 1 });
  expect(await statuses(3, () => ask(service, null))).toEqual([401, 429, 429]);
  expect((await ask(service, service.key)).status).toBe(404);
});

test('the key of a deleted tenant is limited before the vault tries to finish the deletion', async () => {
  const service = await limitedService({ authFailures: 3 });
  const remove = () => service.call('DELETE', '/tenants/self', { name: 'test' }, { key: service.managementKey });
  expect((await remove()).status).toBe(204);
  const destroy = vi.spyOn(service.vault.keys, 'destroyTenant');
  const readStream = vi.spyOn(service.vault.log, 'readStream');
  expect(await statuses(6, remove)).toEqual([401, 401, 401, 429, 429, 429]);
  expect(destroy).toHaveBeenCalledTimes(3);
  expect(readStream, 'the stream of a tenant has no maximum length').not.toHaveBeenCalled();
});

test('other addresses are not limited, and all addresses in one IPv6 network count as one', async () => {
  const service = await limitedService({ authFailures: 1 });
  expect(await statuses(2, () => ask(service, null, '203.0.113.7'))).toEqual([401, 429]);
  expect((await ask(service, null, '203.0.113.8')).status).toBe(401);
  expect((await ask(service, null, '2001:db8:0:7::1')).status).toBe(401);
  expect((await ask(service, null, '2001:db8:0:7:ffff::2')).status).toBe(429);
  expect((await ask(service, null, '2001:db8:0:8::1')).status).toBe(401);
});

test('only a trusted proxy can name the client’s address', async () => {
  const service = await limitedService({ authFailures: 1 }, { trustedProxies: ['192.0.2.1'] });
  const stranger = (client: string) => ask(service, null, '203.0.113.7', client);
  expect((await stranger('198.51.100.1')).status).toBe(401);
  expect((await stranger('198.51.100.2')).status).toBe(429);
  const proxy = (client: string) => ask(service, null, '192.0.2.1', client);
  expect((await proxy('198.51.100.3')).status).toBe(401);
  expect((await proxy('198.51.100.4')).status).toBe(401);
  expect((await proxy('198.51.100.3')).status).toBe(429);
});

test('0 means no limit', async () => {
  const service = await limitedService({ authFailures: 0 });
  expect(new Set(await statuses(80, () => ask(service, null)))).toEqual(new Set([401]));
});
