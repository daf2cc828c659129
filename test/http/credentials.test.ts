import { describe, expect, onTestFinished } from 'vitest';
import { startTestService, type TestService } from '../support/test-service.js';
import { metric } from './limits/support.js';
import { documentOf, operationsIn } from './openapi/support.js';
import { createPlain, expectRefusal, path, test } from './routes/support.js';

const header = 'ApiKey realm="strongroom", header="SERVICE-API-KEY"';
const refused = { status: 401, code: 'unauthenticated' };

/** Starts a service that also accepts the API key as a bearer token. */
async function bearerService(limits?: Parameters<typeof startTestService>[0]): Promise<TestService> {
  const service = await startTestService({ acceptsBearer: true, ...limits });
  onTestFinished(async () => {
    expect(service.errors).toEqual([]);
    await service.close();
  });
  return service;
}

/** Sends a GET request with exactly these credentials. */
function get(service: TestService, url: string, authorization: string | null, key: string | null = null) {
  return service.call('GET', url, undefined, { key, headers: authorization === null ? {} : { authorization } });
}

describe('a 401 says how to authenticate', () => {
  test('the text of a 401 is the same, whatever the reason is', async ({ service }) => {
    for (const key of [null, '', 'password', `${service.key}x`]) {
      const { headers } = await expectRefusal(service, () => get(service, '/tokens', null, key), refused);
      expect(headers['www-authenticate']).toBe(header);
    }
  });

  test('only a 401 contains a challenge', async ({ service }) => {
    const { id } = await createPlain(service);
    const answers = [
      await service.call('GET', path(id)),
      await service.call('GET', path('unknown')),
      await service.call('GET', '/tenants/self'),
      await service.call('GET', '/health/live', undefined, { key: null }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 403, 200]);
    for (const { headers } of answers) expect(headers['www-authenticate']).toBeUndefined();
  });
});

describe('by default', () => {
  test('a bearer token is not accepted as a key, and is ignored next to a key', async ({ service }) => {
    await expectRefusal(service, () => get(service, '/tokens', `Bearer ${service.key}`), refused);
    expect((await get(service, '/tokens', 'Bearer anything', service.key)).status).toBe(200);
    const { components, paths } = await documentOf(service);
    expect(Object.keys(components?.securitySchemes ?? {})).toEqual(['apiKey']);
    expect(paths?.['/tokens']?.get?.security).toEqual([{ apiKey: [] }]);
  });
});

describe('with auth.bearer', () => {
  test('the key is accepted as a bearer token, in the header SERVICE-API-KEY, or in both if the keys are equal', async () => {
    const service = await bearerService();
    const { id } = await createPlain(service);
    for (const [authorization, key] of [
      [`Bearer ${service.key}`, null],
      [`bearer   ${service.key}`, null],
      [null, service.key],
      [`Bearer ${service.key}`, service.key],
      // Other authentication schemes are ignored.
      ['Basic dXNlcjpwYXNz', service.key],
    ] as const) {
      const answer = await get(service, path(id), authorization, key);
      expect(answer.status, `${authorization} ${key}: ${answer.text}`).toBe(200);
    }
  });

  test('two different keys return 401, and so does anything that is not a key', async () => {
    const service = await bearerService();
    const other = await service.application(['token:read']);
    for (const [authorization, key] of [
      [`Bearer ${service.key}`, other],
      [`Bearer ${other}`, service.key],
      ['Bearer wrong', service.key],
      ['Bearer', service.key],
      [`Bearer ${service.key}`, 'wrong'],
      [`Bearer ${service.key}`, ''],
      ['Bearer', null],
      ['Bearer wrong', null],
      [`Bearer ${service.key} ${service.key}`, null],
      [`Bearer ${service.key},`, null],
      [`Bearer${service.key}`, null],
      [service.key, null],
      [`Basic ${service.key}`, null],
      [null, null],
    ] as const) {
      const answer = await expectRefusal(service, () => get(service, '/tokens', authorization, key), refused);
      const sentBearer = /^Bearer( |$)/.test(authorization ?? '');
      const bearer = `Bearer realm="strongroom"${sentBearer ? ', error="invalid_token"' : ''}`;
      expect(answer.headers['www-authenticate'], `${authorization} ${key}`).toBe(`${bearer}, ${header}`);
      expect(answer.text).not.toContain(service.key);
    }
  });

  test('the OpenAPI document offers both ways, and each 401 describes its challenge', async () => {
    const document = await documentOf(await bearerService());
    expect(document.components?.securitySchemes).toMatchObject({ bearer: { type: 'http', scheme: 'bearer' } });
    const keyed = operationsIn(document).filter(({ security = [] }) => security.length > 0);
    expect(keyed.length).toBeGreaterThan(20);
    for (const { security, responses = {}, operationId } of keyed) {
      expect(security).toEqual([{ apiKey: [] }, { bearer: [] }]);
      expect(responses['401'], operationId).toHaveProperty(['headers', 'WWW-Authenticate']);
    }
  });

  test('a wrong bearer token counts as a failed authentication, and a valid one counts for its application', async () => {
    const limits = {
      requests: 2,
      windowMs: 10_000,
      authFailures: 1,
      keylessRequests: 0,
      guesses: 0,
      deduplicationMisses: 0,
    };
    const service = await bearerService({ limits });
    const statusOf = async (authorization: string) => (await get(service, '/tokens', authorization)).status;
    expect([await statusOf('Bearer wrong'), await statusOf('Bearer wrong')]).toEqual([401, 429]);
    expect(await metric(service, 'strongroom_rate_limited_total{limit="auth_failures"}')).toBe(1);
    expect([
      await statusOf(`Bearer ${service.key}`),
      (await get(service, '/tokens', null, service.key)).status,
    ]).toEqual([200, 200]);
    expect(await statusOf(`Bearer ${service.key}`)).toBe(429);
  });

  test('the access log records the id of the key, whichever header contained the key', async () => {
    const service = await bearerService();
    const { id } = await createPlain(service);
    for (const [authorization, key] of [
      [`Bearer ${service.key}`, null],
      [null, service.key],
    ] as const) {
      expect((await get(service, path(id), authorization, key)).status).toBe(200);
    }
    const reader = await service.application(['log:read'], 'management');
    const { text, body } = await get(service, '/logs?operation=reveal', `Bearer ${reader}`);
    expect(text).not.toContain(service.key);
    expect(text).not.toContain(reader);
    const entries = body['data'];
    const ids = Array.isArray(entries) ? entries.map((entry) => Object(entry).key_id) : [];
    expect(ids).toEqual([expect.any(String), ids[0]]);
  });
});
