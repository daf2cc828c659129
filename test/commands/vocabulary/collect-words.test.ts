import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectWords } from '#src/commands/vocabulary/collect-words.js';
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

describe('the words of a tenant', () => {
  test('no more characters of one kind than its share, and the thread goes on meanwhile', async () => {
    const long = 'k'.repeat(80);
    for (let i = 0; i < 30; i += 1) {
      const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, j) => [`${long}-${i}-${j}`, 'v']));
      await createPlain(service, { metadata, containers: [`/c/${i}/`] });
    }
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const { keys, containers } = await collectWords(service.vault, service.tenantId);
    delay.disable();
    expect(keys.size).toBeGreaterThan(99_000);
    expect(keys.size).toBeLessThanOrEqual(100_000);
    expect(keys.has(`${long}-29-0`), 'the newest first').toBe(true);
    expect(containers.complete('/', 100)).toHaveLength(31);
    expect(delay.max / 1e6, 'longest pause, ms').toBeLessThan(1_000);
  });

  test('a destroyed tenant has none, also not by a request that was under way', async () => {
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
