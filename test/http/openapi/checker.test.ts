import { describe, expect } from 'vitest';
import { openApiChecker } from '../../support/openapi-checker.js';
import type { Answer } from '../../support/test-service.js';
import { test } from '../routes/support.js';

/**
 * Every HTTP test uses this checker to compare its responses with the OpenAPI document. The following tests prove that
 * the checker rejects wrong responses.
 */
describe('a response that differs from the document is detected', () => {
  test('by its status, media type, body or header', async ({ service }) => {
    const check = openApiChecker(service.app);
    const { status, headers, text, body } = await service.call('GET', '/health/live');
    const good: Answer = { status, headers, text, body };
    const found = (changed: Partial<Answer>, method = 'GET', url = '/health/live') =>
      check(method, url, { ...good, ...changed }).length > 0;
    expect(found({})).toBe(false);
    expect(found({}, 'GET', '/health/live/?a=b')).toBe(false);
    expect(found({ status: 418 })).toBe(true);
    expect(found({ body: { status: 'dead' } })).toBe(true);
    expect(found({ body: { ...body, more: 1 } })).toBe(true);
    expect(found({ headers: { ...headers, 'content-type': 'text/plain' } })).toBe(true);
    expect(found({ headers: { 'content-type': 'application/json' } })).toBe(true);
    expect(found({}, 'PUT')).toBe(true);
    expect(found({}, 'GET', '/nowhere')).toBe(true);
    expect(found({ status: 404 }, 'GET', '/nowhere')).toBe(true);
  });

  test('if the schemas are referenced by name', async ({ service }) => {
    const check = openApiChecker(service.app);
    const { status, headers, text, body } = await service.call('POST', '/tokens', { type: 'token', data: 1 });
    expect(check('POST', '/tokens', { status, headers, text, body })).toEqual([]);
    expect(check('POST', '/tokens', { status, headers, text, body: { ...body, secret: 1 } })).not.toEqual([]);
    const { containers: _, ...lacking } = body;
    expect(check('POST', '/tokens', { status, headers, text, body: lacking })).not.toEqual([]);
  });
});
