import { METHODS } from 'node:http';
import { describe, expect, vi } from 'vitest';
import { createApp } from '#src/http/server/app.js';
import type { TestService } from '../support/test-service.js';
import { limitedService, metric } from './limits/support.js';
import { documentOf, operationsIn } from './openapi/support.js';
import { createPlain, expectProblem, path, test } from './routes/support.js';

const origin = 'https://app.example';
const silent = { request: () => undefined, error: () => undefined };

/** Sends a request with any method. The helper `call` would accept only documented methods. */
async function send(app: TestService['app'], method: string, url: string, headers: Record<string, string> = {}) {
  // The types of `inject` allow only well-known methods, but the router accepts any method.
  const response = await app.inject({ method: method as 'GET', url, headers });
  const isJson = String(response.headers['content-type'] ?? '').includes('json') && response.body !== '';
  const { statusCode: status, headers: answered, body: text } = response;
  return { status, headers: answered, text, body: isJson ? JSON.parse(text) : {} };
}

/** Returns the methods that the document describes for a path. If GET is one of them, the result also contains HEAD. */
async function describedAt(service: TestService, url: string): Promise<readonly string[]> {
  const found = operationsIn(await documentOf(service)).filter(({ path: template }) =>
    new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(url),
  );
  const methods = found.map(({ method }) => method.toUpperCase());
  return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].sort();
}

describe('a method that a known path does not support returns 405 with the methods that the path supports', () => {
  test('on every path, with every method that Node.js parses', async ({ service }) => {
    const { paths = {} } = await documentOf(service);
    let refused = 0;
    for (const template of Object.keys(paths)) {
      const url = template.replaceAll(/\{[^}]+\}/g, 'some-id');
      const described = await describedAt(service, url);
      for (const method of METHODS.filter((one) => one !== 'CONNECT' && !described.includes(one))) {
        const answer = await send(service.app, method, url);
        expect([method, url, answer.status, answer.headers['allow']]).toEqual([method, url, 405, described.join(', ')]);
        if (method !== 'HEAD') {
          expect(answer.body.code).toBe('method_not_allowed');
          expectProblem(answer);
        }
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(500);
  });

  test.for([
    ['PUT', '/tokens/some-id', 'DELETE, GET, HEAD, PATCH'],
    // This path also belongs to a token with the id `search`.
    ['PUT', '/tokens/search', 'DELETE, GET, HEAD, PATCH, POST'],
    ['GET', '/tokenize/', 'POST'],
    ['GET', '/tokenize?a=b', 'POST'],
    ['GET', '/%74okenize', 'POST'],
    ['PUT', '/tokens/a%2Fb', 'DELETE, GET, HEAD, PATCH'],
    ['OPTIONS', '/tokens', 'GET, HEAD, POST'],
    ['TRACE', '/health/live', 'GET, HEAD'],
  ] as const)('%s %s allows %s', async ([method, url, allow], { service }) => {
    const answer = await send(service.app, method, url);
    expect([answer.status, answer.headers['allow']], answer.text).toEqual([405, allow]);
  });

  test.for([
    ['GET', '/nothing'],
    ['PUT', '/nothing'],
    ['OPTIONS', '/nothing'],
    ['OPTIONS', '*'],
    ['PROPFIND', '/tokens/a/b/c'],
    ['GET', '//tokens/x'],
    ['PUT', '/TOKENS'],
  ] as const)('%s %s returns 404 without Allow', async ([method, url], { service }) => {
    const answer = await send(service.app, method, url);
    expect([answer.status, answer.body.code, answer.headers['allow']]).toEqual([404, 'not_found', undefined]);
  });
});

describe('a 405', () => {
  test('has the same content for every caller, whether or not the token exists', async ({ service }) => {
    const { id } = await createPlain(service);
    const seen: unknown[] = [];
    for (const url of [path(id), path('unknown')]) {
      for (const key of [service.key, service.managementKey, 'wrong', null]) {
        const answer = await service.call('PUT', url, undefined, { key });
        const { instance: _, ...body } = answer.body;
        expect(answer.headers['www-authenticate']).toBeUndefined();
        seen.push([answer.status, answer.headers['allow'], body]);
      }
    }
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1);
  });

  test('counts toward the limit on requests without a key, before the body is parsed', async () => {
    const service = await limitedService({ keylessRequests: 2 });
    const parse = vi.spyOn(JSON, 'parse');
    const statuses: number[] = [];
    for (const url of ['/tokens', '/nowhere', '/tokens']) {
      const headers = { 'content-type': 'application/json' };
      const { statusCode } = await service.app.inject({ method: 'PUT', url, headers, payload: '{"secret": "never' });
      statuses.push(statusCode);
    }
    expect(statuses).toEqual([405, 404, 429]);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
    expect(await metric(service, 'strongroom_rate_limited_total{limit="keyless_requests"}')).toBe(1);
  });
});

describe('CORS', () => {
  function appFor({ service }: TestService) {
    return createApp(service, {
      headerNames: { apiKey: ['service-api-key'], traceId: ['service-trace-id'], idempotencyKey: [] },
      acceptsBearer: false,
      corsOrigins: [origin],
      trustedProxies: [],
      behindTlsProxy: false,
      tls: null,
      log: silent,
    });
  }

  test('lets a page read a 404, a 405, the allowed methods, and a 400 for a path that cannot be decoded', async ({
    service,
  }) => {
    const app = appFor(service);
    for (const [url, status] of [
      ['/tokens', 405],
      ['/nothing', 404],
      ['/tokens/%', 400],
    ] as const) {
      const answer = await send(app, 'PUT', url, { origin });
      expect([answer.status, answer.headers['access-control-allow-origin']], answer.text).toEqual([status, origin]);
      expect(String(answer.headers['access-control-expose-headers'])).toMatch(/allow.*www-authenticate/);
    }
  });

  test.for([
    ['/tokens', {}, 405, 'GET, HEAD, POST'],
    ['/tokens', { origin }, 405, 'GET, HEAD, POST'],
    ['/tokens', { 'access-control-request-method': 'GET' }, 405, 'GET, HEAD, POST'],
    ['/nothing', {}, 404, undefined],
    ['*', {}, 404, undefined],
    ['/tokens', { origin, 'access-control-request-method': 'GET' }, 204, undefined],
    ['/tokens', { origin, 'access-control-request-method': '' }, 204, undefined],
    ['/tokens/%', { origin, 'access-control-request-method': 'GET' }, 204, undefined],
    ['/tokens/%', { origin }, 400, undefined],
    ['/tokens/%', {}, 400, undefined],
  ] as const)(
    'OPTIONS %s with %j is %s unless it is a preflight',
    async ([url, headers, status, allow], { service }) => {
      const answer = await send(appFor(service), 'OPTIONS', url, { ...headers });
      expect([answer.status, answer.headers['allow']], answer.text).toEqual([status, allow]);
      if (status !== 204) expectProblem(answer);
    },
  );
});
