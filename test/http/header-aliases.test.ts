import { expect } from 'vitest';
import { createApp } from '#src/http/server/app.js';
import type { TestService } from '../support/test-service.js';
import { test } from './routes/support.js';

function appFor({ service }: TestService) {
  return createApp(service, {
    headerNames: {
      apiKey: ['service-api-key', 'x-api-key', 'y-api-key'],
      traceId: ['service-trace-id', 'x-trace', 'y-trace'],
      idempotencyKey: [],
    },
    acceptsBearer: true,
    corsOrigins: [],
    trustedProxies: [],
    behindTlsProxy: false,
    tls: null,
    log: { request: () => undefined, error: () => undefined },
  });
}

test('two different keys return 401 in any two headers, so that no key is ignored', async ({ service }) => {
  const app = appFor(service);
  const other = await service.application(['token:read']);
  const statusOf = async (headers: Record<string, string>) =>
    (await app.inject({ method: 'GET', url: '/tokens', headers })).statusCode;
  const names = ['service-api-key', 'x-api-key', 'y-api-key', 'authorization'];
  const held = (name: string, key: string) => ({ [name]: name === 'authorization' ? `Bearer ${key}` : key });
  for (const first of names) {
    for (const second of names.filter((name) => name !== first)) {
      const pair = `${first} and ${second}`;
      expect(await statusOf({ ...held(first, service.key), ...held(second, other) }), pair).toBe(401);
      expect(await statusOf({ ...held(first, service.key), ...held(second, '') }), pair).toBe(401);
      expect(await statusOf({ ...held(first, service.key), ...held(second, service.key) }), pair).toBe(200);
    }
  }
});

test('the first valid trace id is used', async ({ service }) => {
  const app = appFor(service);
  const traceOf = async (headers: Record<string, string>) =>
    (await app.inject({ method: 'GET', url: '/health/live', headers })).headers['service-trace-id'];
  expect(await traceOf({ 'service-trace-id': 'bad value', 'x-trace': '4242424242424242', 'y-trace': 'abc' })).toBe(
    'abc',
  );
  expect(await traceOf({ 'service-trace-id': 'first', 'x-trace': 'second' })).toBe('first');
  expect(await traceOf({ 'x-trace': 'bad value' })).toMatch(/^[0-9a-f-]{36}$/);
});
