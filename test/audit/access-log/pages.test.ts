import { expect, test } from 'vitest';
import { operationsOn } from '../../http/routes/list-logs/support.js';
import { createPlain } from '../../http/routes/support.js';
import { rule, startTestService } from '../../support/test-service.js';
import { obstruct } from './support.js';

/**
 * Threat: an attacker reads the whole vault page by page, and the access log does not show which tokens the attacker
 * saw.
 */
test('every token on a page of a list or search is recorded, with the transform that was applied to it', async () => {
  const service = await startTestService();
  const { id } = await createPlain(service);
  const masking = await service.application([rule('/', 'mask', ['token:search', 'token:read'])]);
  await service.call('POST', '/tokens/search', {});
  await service.call('POST', '/tokens/search', {}, { key: masking });
  await service.call('POST', '/tokens/search', { query: 'type:card' });
  await service.call('GET', '/tokens');
  await service.call('GET', '/tokens', undefined, { key: masking });
  expect([...(await operationsOn(service, id))].sort()).toEqual(['create', 'read', 'read', 'reveal', 'reveal']);
  await service.close();
});

test('no page with plaintext data is sent while the log cannot be written', async () => {
  const service = await startTestService();
  const masking = await service.application([rule('/', 'mask', ['token:search', 'token:read'])]);
  await createPlain(service, { data: 'the-value' });
  const { undo } = await obstruct(service, '2026-01');
  for (const [method, url, body] of [['POST', '/tokens/search', {}] as const, ['GET', '/tokens', undefined] as const]) {
    const refused = await service.call(method, url, body);
    expect([refused.status, refused.text.includes('the-value')]).toEqual([503, false]);
    expect((await service.call(method, url, body, { key: masking })).status).toBe(200);
  }
  undo();
  expect((await service.call('POST', '/tokens/search', {})).text).toContain('the-value');
  await service.close();
});
