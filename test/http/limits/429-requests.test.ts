import { expect, test } from 'vitest';
import { expectRefusal } from '../routes/support.js';
import { limitedService, metric, statuses } from './support.js';

const limited = { status: 429, code: 'rate_limited' };

test('an application may send a number of requests per window, and then gets 429 until the window ends', async () => {
  const service = await limitedService({ requests: 3 });
  const read = () => service.call('GET', '/tokens/unknown');
  expect(await statuses(3, read)).toEqual([404, 404, 404]);
  service.clock.advance(4_001);
  const { headers } = await expectRefusal(service, read, limited);
  expect(headers['retry-after']).toBe('6');
  service.clock.advance(5_999);
  expect(await statuses(4, read)).toEqual([404, 404, 404, 429]);
  expect(await metric(service, 'strongroom_rate_limited_total{limit="requests"}')).toBe(2);
});

test('requests to every route with a key are counted; those of other applications and to routes without a key are not', async () => {
  const service = await limitedService({ requests: 2 });
  const other = await service.application(['token:read']);
  await service.call('POST', '/tokens', { type: 'token', data: 1 });
  await service.call('DELETE', '/tokens/unknown');
  expect((await service.call('PATCH', '/tokens/unknown', {})).status).toBe(429);
  expect((await service.call('GET', '/tokens/unknown', undefined, { key: other })).status).toBe(404);
  expect(await statuses(5, () => service.call('GET', '/health/live'))).toEqual([200, 200, 200, 200, 200]);
});

test('a 429 comes before a 403, 413, 415 or 400', async () => {
  const service = await limitedService({ requests: 1 });
  const key = await service.application(['token:create']);
  const post = (raw: string, headers: Record<string, string> = {}) =>
    service.call('POST', '/tokens', undefined, { key, raw, headers });
  expect((await post('{')).status).toBe(400);
  await expectRefusal(service, () => post('{'), limited);
  await expectRefusal(service, () => post('x'.repeat(5 * 1024 * 1024)), limited);
  await expectRefusal(service, () => post('{}', { 'content-type': 'text/plain' }), limited);
  await expectRefusal(service, () => service.call('GET', '/tokens/unknown', undefined, { key }), limited);
});

test('concurrent requests are all counted', async () => {
  const service = await limitedService({ requests: 10 });
  const answers = await Promise.all(Array.from({ length: 30 }, () => service.call('GET', '/tokens/unknown')));
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
});

test('a request for several tokens counts once per token, and a rejected request uses up nothing', async () => {
  const service = await limitedService({ requests: 10 });
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key is good');
  const { limits } = service.service;
  const send = async (tokens: number): Promise<void> => {
    await limits.request(caller);
    await limits.weigh(caller, tokens);
  };
  await send(6);
  await expect(send(6)).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 10_000 });
  await send(3);
  await expect(send(1)).rejects.toMatchObject({ code: 'rate_limited' });
  service.clock.advance(10_000);
  await send(10);
  await expect(send(0)).rejects.toMatchObject({ code: 'rate_limited' });
});

test('a limit of 0 means no limit', async () => {
  const service = await limitedService({ requests: 0 });
  expect(new Set(await statuses(50, () => service.call('GET', '/tokens/unknown')))).toEqual(new Set([404]));
});
