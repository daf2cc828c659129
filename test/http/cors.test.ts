import { describe, expect } from 'vitest';
import { createApp } from '#src/http/server/app.js';
import type { TestService } from '../support/test-service.js';
import { createPlain, path, test } from './routes/support.js';

const origin = 'https://app.example';

function appFor({ service }: TestService) {
  return createApp(service, {
    headerNames: { apiKey: ['service-api-key'], traceId: ['service-trace-id'], idempotencyKey: [] },
    acceptsBearer: false,
    corsOrigins: [origin],
    trustedProxies: [],
    behindTlsProxy: false,
    tls: null,
    log: { request: () => undefined, error: () => undefined },
  });
}

describe('a page from an allowed origin may use the service from a browser', () => {
  test.for(['GET', 'POST', 'PATCH', 'PUT', 'DELETE'])('after a preflight for %s', async (method, { service }) => {
    const headers = {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'service-api-key,content-type',
    };
    const answer = await appFor(service).inject({ method: 'OPTIONS', url: '/tokens/some-id', headers });
    expect(answer.statusCode, answer.body).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    expect(String(answer.headers['access-control-allow-methods'])).toContain(method);
    expect(String(answer.headers['access-control-allow-headers'])).toContain('service-api-key');
  });

  test('a page can read that a path does not exist, because its preflight succeeds', async ({ service }) => {
    const app = appFor(service);
    const preflight = { origin, 'access-control-request-method': 'GET' };
    const allowed = await app.inject({ method: 'OPTIONS', url: '/nope', headers: preflight });
    expect([allowed.statusCode, allowed.headers['access-control-allow-origin']]).toEqual([204, origin]);
    const answer = await app.inject({ method: 'GET', url: '/nope', headers: { origin } });
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([404, origin]);
  });

  test('a preflight from another origin does not allow that origin', async ({ service }) => {
    const headers = { origin: 'https://other.example', 'access-control-request-method': 'GET' };
    for (const url of ['/nope', '/tokens/some-id']) {
      const answer = await appFor(service).inject({ method: 'OPTIONS', url, headers });
      expect([answer.statusCode, answer.headers['access-control-allow-origin']], url).toEqual([204, undefined]);
    }
  });

  test('a page can read error responses', async ({ service }) => {
    const { id } = await createPlain(service);
    for (const key of [service.key, 'wrong']) {
      const headers = { origin, 'service-api-key': key };
      const answer = await appFor(service).inject({ method: 'GET', url: path(id), headers });
      expect(answer.headers['access-control-allow-origin'], answer.body).toBe(origin);
      expect(String(answer.headers['access-control-expose-headers'])).toContain('etag');
    }
  });

  test('a page from another origin may not use the service', async ({ service }) => {
    const headers = { origin: 'https://other.example', 'service-api-key': service.key };
    const answer = await appFor(service).inject({ method: 'GET', url: '/tokens/unknown', headers });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

test('without allowed origins, no CORS headers are sent', async ({ service }) => {
  const headers = { origin, 'access-control-request-method': 'GET' };
  const preflight = await service.call('OPTIONS', '/tokens/some-id', undefined, { headers });
  expect(preflight.status).toBe(405);
  const answer = await service.call('GET', '/tokens/unknown', undefined, { headers });
  for (const { headers } of [preflight, answer]) {
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});
