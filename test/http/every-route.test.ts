import { describe, expect } from 'vitest';
import type { TestService } from '../support/test-service.js';
import { documentOf, operationsIn } from './openapi/support.js';
import { ownId } from './routes/directory-support.js';
import { collected } from './routes/search-suggestions/support.js';
import { createPlain, test } from './routes/support.js';

const volatile = new Set(['service-trace-id', 'date', 'connection', 'keep-alive']);

/** Returns the method and the path of every route. The tokens and applications in the paths exist. */
async function routesOf(service: TestService) {
  const { id } = await createPlain(service);
  const application = await ownId(service, service.key);
  return operationsIn(await documentOf(service)).map(({ method, path, security = [] }) => ({
    method: method.toUpperCase() as 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: path
      .replace('{code}', 'internal')
      .replace('{key_id}', 'unknown')
      .replace('{id}', path.startsWith('/tokens') ? id : application),
    isOpen: security.length === 0,
  }));
}

describe('every route', () => {
  test('tolerates a trailing slash', async ({ service }) => {
    for (const { method, url } of await routesOf(service)) {
      const send = (to: string) => service.call(method, to, undefined, { key: null });
      const [plain, slashed] = [await send(url), await send(`${url}/`)];
      expect(plain.body['code'], `${method} ${url}`).not.toBe('not_found');
      expect([slashed.status, slashed.body['code']], `${method} ${url}/`).toEqual([plain.status, plain.body['code']]);
    }
  });

  test('with GET also supports HEAD, with the same headers and no body', async ({ service }) => {
    const routes = await routesOf(service);
    // Suggestions contain the tenant's words only once they are collected, which may take longer than a request waits.
    await collected(service);
    for (const { url } of routes.filter(({ method }) => method === 'GET')) {
      for (const key of [service.key, service.managementKey, null]) {
        const get = await service.call('GET', url, undefined, { key });
        const head = await service.call('HEAD', url, undefined, { key });
        const known = ({ headers }: typeof get) =>
          Object.fromEntries(Object.entries(headers).filter(([name]) => !volatile.has(name)));
        expect([head.status, head.text], `HEAD ${url}`).toEqual([get.status, '']);
        // Each read is recorded, so each response that contains the access log is longer than the previous one.
        if (url !== '/logs') expect(known(head), `HEAD ${url}`).toEqual(known(get));
      }
    }
  });

  test('rejects a query string that is not valid UTF-8, after it has checked the key and the permission', async ({
    service,
  }) => {
    for (const { method, url, isOpen } of await routesOf(service)) {
      const send = async (key: string | null) => {
        const { status, body } = await service.call(method, `${url}?x=%ff`, undefined, { key });
        return `${status} ${body['code']}`;
      };
      expect(await send(null), `${method} ${url}`).toBe(isOpen ? '400 malformed_request' : '401 unauthenticated');
      const withKeys = [await send(service.key), await send(service.managementKey)];
      expect(withKeys, `${method} ${url}`).toContain('400 malformed_request');
      const others = withKeys.filter((answer) => answer !== '400 malformed_request');
      expect(['', '403 permission_missing'], `${method} ${url}`).toContain(others.join());
    }
  });

  test('forbids caching if it requires a key, and sends no media type if it sends no body', async ({ service }) => {
    const headers = { 'content-type': 'text/plain' };
    let shown = 0;
    for (const { method, url, isOpen } of await routesOf(service)) {
      if (isOpen || method !== 'GET') continue;
      for (const key of [service.key, service.managementKey]) {
        const answer = await service.call(method, url, undefined, { key, headers });
        expect(answer.status, `${method} ${url}: ${answer.text}`).not.toBe(415);
        if (answer.status === 200 && url !== '/permissions') {
          shown += 1;
          expect(answer.headers['cache-control'], `${method} ${url}`).toBe('no-store');
        }
      }
    }
    expect(shown).toBeGreaterThan(9);
  });

  test.for([0, 201])('that accepts idempotency keys rejects a key of %s characters', async (length, { service }) => {
    const headers = { 'service-idempotency-key': 'k'.repeat(length) };
    const application = await ownId(service, service.key);
    const before = await service.eventCount();
    const answers = [
      await service.call('POST', '/tokens', { type: 'token', data: 1 }, { headers }),
      await service.call('PATCH', '/tokens/unknown', {}, { headers }),
      await service.call('POST', '/tokenize', 'x', { headers }),
      await service.call(
        'POST',
        '/applications',
        { name: 'x', type: 'private', permissions: ['token:read'] },
        {
          headers,
          key: service.managementKey,
        },
      ),
      await service.call('POST', `/applications/${application}/keys`, undefined, {
        headers,
        key: service.managementKey,
      }),
    ];
    expect(answers.map(({ status, text }) => (status === 400 ? 400 : text))).toEqual(Array(5).fill(400));
    expect(await service.eventCount()).toBe(before);
  });
});
