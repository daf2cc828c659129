import { expect, test, vi } from 'vitest';
import { limitedService, metric, statuses } from './support.js';

test('requests for pages without a key are limited per address, whatever page they request', async () => {
  const service = await limitedService({ keylessRequests: 4 });
  const paths = ['/docs', '/openapi.json', '/errors/forbidden', '/nothing-here', '/docs', '/healthy'];
  const seen: number[] = [];
  // These requests do not use `call`, because `call` accepts only documented paths.
  for (const url of paths) seen.push((await service.app.inject({ url })).statusCode);
  expect(seen).toEqual([200, 200, 200, 404, 429, 429]);
  const refused = await service.call('GET', '/docs', undefined, { key: null });
  expect(refused.body).toMatchObject({ code: 'too_many_without_key' });
  expect(refused.headers['retry-after']).toBe('10');
  expect(await metric(service, 'strongroom_rate_limited_total{limit="keyless_requests"}')).toBe(3);
});

test('health checks, other addresses and networks, and requests with a key are not affected', async () => {
  const service = await limitedService({ keylessRequests: 1 });
  const docs = (address: string) => service.call('GET', '/docs', undefined, { key: null, address });
  expect(await statuses(2, () => docs('192.0.2.1'))).toEqual([200, 429]);
  expect((await docs('192.0.2.2')).status).toBe(200);
  expect((await docs('2001:db8:1:2::1')).status).toBe(200);
  expect((await docs('2001:db8:1:2:3::1')).status).toBe(429);
  expect((await docs('2001:db8:1:3::1')).status).toBe(200);
  expect(await statuses(5, () => service.call('GET', '/health/live', undefined, { key: null }))).toEqual([
    200, 200, 200, 200, 200,
  ]);
  expect(await statuses(3, () => service.call('GET', '/tokens'))).toEqual([200, 200, 200]);
});

test('the reference and the document are rendered only once', async () => {
  const service = await limitedService({});
  const swagger = vi.spyOn(service.app, 'swagger');
  for (const path of ['/docs', '/openapi.json']) {
    const [first, second] = [await service.call('GET', path), await service.call('GET', path)];
    expect(first.text.length).toBeGreaterThan(10_000);
    expect(second.text).toBe(first.text);
  }
  expect(swagger).toHaveBeenCalledTimes(2);
});
