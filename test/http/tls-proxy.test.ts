import { expect, onTestFinished, test } from 'vitest';
import { startTestService } from '../support/test-service.js';

const proxy = '10.0.0.4';
const overTls = { 'x-forwarded-proto': 'https' };

async function behindProxy() {
  const service = await startTestService({ trustedProxies: [proxy, '10.1.0.0/16', 'fd00::/8'], behindTlsProxy: true });
  onTestFinished(service.close);
  return service;
}

test('a request that a trusted proxy received over TLS is served', async () => {
  const { call } = await behindProxy();
  for (const address of [proxy, `::ffff:${proxy}`, '10.1.200.7', 'fd00::17']) {
    for (const scheme of ['https', 'HTTPS', 'https, https']) {
      const answer = await call('GET', '/tokens', undefined, { address, headers: { 'x-forwarded-proto': scheme } });
      expect(answer.status, `${address} ${scheme}: ${answer.text}`).toBe(200);
    }
  }
});

test.each([
  ['a peer that is not the proxy, whatever it claims', '10.0.0.5', { ...overTls, 'x-forwarded-for': proxy }],
  ['a peer that is not the proxy, in IPv6', '2001:db8::1', overTls],
  ['the proxy, without the header', proxy, {}],
  ['the proxy, for a request in plaintext', proxy, { 'x-forwarded-proto': 'http' }],
  ['the proxy, which appends to a header that the caller sent', proxy, { 'x-forwarded-proto': 'https, http' }],
  ['the proxy, behind another proxy that was reached in plaintext', proxy, { 'x-forwarded-proto': 'http, https' }],
  ['the proxy, with an empty header', proxy, { 'x-forwarded-proto': '' }],
])('403 before the key is checked, for %s', async (_name, address, headers) => {
  const { call, key } = await behindProxy();
  for (const as of [key, 'wrong', null]) {
    for (const [method, url] of [
      ['GET', '/tokens'],
      ['POST', '/tokens'],
      ['GET', '/docs'],
    ] as const) {
      const body = method === 'POST' ? { type: 'token', data: 'value' } : undefined;
      const answer = await call(method, url, body, { address, headers, key: as });
      expect(answer, `${method} ${url}`).toMatchObject({ status: 403, body: { code: 'tls_required' } });
    }
  }
  const { body } = await call('GET', '/tokens', undefined, { address: proxy, headers: overTls });
  expect(body).toMatchObject({ pagination: { total_items: 0 } });
});

test('health probes may connect directly', async () => {
  const { call } = await behindProxy();
  for (const url of ['/health/live', '/health/ready', '/health/live/']) {
    expect((await call('GET', url, undefined, { address: '192.0.2.1', key: null })).status, url).toBe(200);
  }
});

test('an unknown path under /health is not exempt', async () => {
  const { app } = await behindProxy();
  const answer = await app.inject({ method: 'GET', url: '/health/other', remoteAddress: '192.0.2.1' });
  expect(answer.statusCode, answer.body).toBe(403);
});
