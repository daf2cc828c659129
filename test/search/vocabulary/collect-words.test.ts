import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { collectWords } from '#src/queries/vocabulary/collect-words.js';
import { manage } from '../../http/routes/directory-support.js';
import { createPlain } from '../../http/routes/support.js';
import { startTestService, type TestService } from '../../support/test-service.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  expect(service.errors).toEqual([]);
  await service.close();
});

describe('a tenant’s words', () => {
  test('are limited to a number of characters of each kind, and collecting them does not block the thread', async () => {
    const long = 'k'.repeat(80);
    for (let i = 0; i < 30; i += 1) {
      const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, j) => [`${long}-${i}-${j}`, 'v']));
      await createPlain(service, { metadata, containers: [`/c/${i}/`] });
    }
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    // Each reading of the clock is one millisecond later than the previous one, so the result does not depend on the
    // speed of the machine.
    let ms = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      ms += 1;
      return ms;
    });
    const { keys, containers } = await collectWords(service.vault, service.tenantId).finally(() => clock.mockRestore());
    counting = false;
    expect(keys.size).toBeGreaterThan(99_000);
    expect(keys.size).toBeLessThanOrEqual(100_000);
    expect(keys.has(`${long}-29-0`), 'the newest first').toBe(true);
    expect(containers.complete('/', 100)).toHaveLength(31);
    expect(turns, 'what others did meanwhile').toBeGreaterThan(5);
  });

  test('come from the newest 2,000 tokens', async () => {
    const key = await service.otherTenant();
    const tokenize = async (count: number, metadata: object) => {
      const body = Array.from({ length: count }, (_, i) => ({ type: 'token', data: `${i}`, metadata }));
      const { status, text } = await service.call('POST', '/tokenize', body, { key });
      expect(status, text).toBe(200);
    };
    await tokenize(1, { oldest: 'v' });
    await tokenize(1, { older: 'v' });
    for (let i = 0; i < 19; i += 1) await tokenize(100, {});
    await tokenize(99, { newest: 'v' });
    const caller = await service.service.authenticate(key);
    const { keys } = await collectWords(service.vault, String(caller?.tenantId));
    expect(keys.complete('', 10)).toEqual(['newest', 'older']);
  });

  test('come from all tokens of a small tenant, even if they are large', async () => {
    const key = await service.otherTenant();
    for (const word of ['oldest', 'middle', 'newest']) {
      const body = { type: 'token', data: 'x'.repeat(300 * 1024), metadata: { [word]: 'v' } };
      const { status, text } = await service.call('POST', '/tokens', body, { key });
      expect(status, text).toBe(201);
    }
    const caller = await service.service.authenticate(key);
    const { keys } = await collectWords(service.vault, String(caller?.tenantId));
    expect(keys.complete('', 10)).toEqual(['middle', 'newest', 'oldest']);
  });

  test('do not exist for a destroyed tenant, even in a request that began before', async () => {
    const { tenantId, vault } = service;
    const { vocabularies } = vault;
    const query = { query: 'metadata.nothing:1' };
    await service.call('POST', '/tokens/search', query);
    await vocabularies.idle();
    expect(await vocabularies.of(tenantId, service.clock.now(), async () => null)).not.toBeNull();
    const pending = service.call('GET', '/tokens/search/suggestions?prefix=k');
    expect((await manage(service, 'DELETE', '/tenants/self', { name: 'test' })).status).toBe(204);
    await pending;
    await vocabularies.idle();
    expect(await vocabularies.of(tenantId, service.clock.now(), async () => null)).toBeNull();
  });
});
