import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { destroyOrphanKeys } from '#src/jobs/orphan-keys.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { noteLog } from '#src/vault/log-behind.js';
import { aCard, anHour, create, keyIdsOf, streamOf } from '../erasure/support.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

const search = async () => (await destroyOrphanKeys(service.vault, service.clock.now())).destroyed;

async function stateOf(keyId: string) {
  return (await service.vault.keys.use(service.tenantId, keyId, () => 0)).state;
}

describe('the search for orphan keys', () => {
  test('destroys keys that no event names, once they are more than one hour old', async () => {
    const { id } = await service.vault.keys.create(service.tenantId);
    service.clock.advance(anHour);
    expect(await search()).toBe(0);
    expect(await stateOf(id)).toBe('open');
    service.clock.advance(1);
    const young = await service.vault.keys.create(service.tenantId);
    expect(await search()).toBeGreaterThan(0);
    expect([await stateOf(id), await stateOf(young.id)]).toEqual(['destroyed', 'open']);
    expect(await search()).toBe(0);
  });

  test('keeps every key that an event names, whether for live tokens, replaced content or a cvc', async () => {
    const id = await create(service, aCard());
    await service.call('PATCH', `/tokens/${id}`, { metadata: { a: '1' } });
    await service.call('PATCH', `/tokens/${id}`, { data: { cvc: '999' } });
    service.clock.advance(10 * anHour);
    await search();
    const { content, cvc } = await keyIdsOf(service, id);
    expect(await stateOf(String(content.at(-1)))).toBe('open');
    expect(await stateOf(String(cvc.at(-1)))).toBe('open');
    expect((await service.call('GET', `/tokens/${id}`)).status).toBe(200);
  });

  test('continues where it stopped, and destroys orphans between keys that events name', async () => {
    const orphans: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      await create(service, aCard());
      orphans.push((await service.vault.keys.create(service.tenantId)).id);
      service.clock.advance(2 * anHour);
      await search();
    }
    for (const id of orphans.slice(0, -1)) expect(await stateOf(id)).toBe('destroyed');
    const named = (await service.vault.log.readAll(0, 1_000)).flatMap(({ clear }) => [clear['key'], clear['cvc_key']]);
    const old = await service.vault.keys.made(0, service.clock.now() - anHour, 1_000);
    expect(old.length).toBeGreaterThan(0);
    expect(old.filter(({ keyId }) => !named.includes(keyId))).toEqual([]);
    const searched = await service.vault.keys.checkpoint('orphans');
    const unsearched = await service.vault.keys.made(searched, service.clock.now() - anHour, 1_000);
    expect(unsearched, 'the next search does not read the same keys again').toEqual([]);
  });

  test('is not complete while a call finds as many keys as it looks at, and the next calls find the others', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => service.vault.keys.create(service.tenantId)));
    service.clock.advance(2 * anHour);
    let calls = 1;
    while (!(await destroyOrphanKeys(service.vault, service.clock.now(), 2)).isComplete) calls += 1;
    expect(calls).toBeGreaterThan(2);
    for (const { id } of made) expect(await stateOf(id)).toBe('destroyed');
  });

  test('finds the keys again if the key store failed to destroy them', async () => {
    const { log, chain, keys } = service.vault;
    const { id } = await keys.create(service.tenantId);
    service.clock.advance(2 * anHour);
    const failing = { ...keys, destroy: () => Promise.reject(new StoreUnavailable('key store', 'broken')) };
    await expect(destroyOrphanKeys({ log, chain, keys: failing }, service.clock.now())).rejects.toThrow('broken');
    expect(await stateOf(id)).toBe('open');
    await search();
    expect(await stateOf(id)).toBe('destroyed');
  });

  test('destroys no key if the log is an older copy that ends before the keys were created', async () => {
    const { log, chain, keys } = service.vault;
    const id = await create(service, aCard());
    for (let count = 0; count < 20; count += 1) await create(service, aCard());
    service.clock.advance(2 * anHour);
    const olderLog = { ...log, head: async () => 1, readClear: async () => [] };
    await expect(destroyOrphanKeys({ log: olderLog, chain, keys }, service.clock.now())).rejects.toThrow(
      'the log is behind its keys',
    );
    expect((await service.call('GET', `/tokens/${id}`)).status).toBe(200);
  });

  test.each(['before', 'after'] as const)(
    'destroys no key while events %s a checkpoint are hidden, because one of them may name the key',
    async (when) => {
      const { log, chain, keys } = service.vault;
      await service.service.checkpointer.run('grown');
      const id = await create(service, aCard());
      const stream = await streamOf(service, id);
      if (when === 'before') await service.service.checkpointer.run('grown');
      for (let count = 0; count < 5; count += 1) await create(service, aCard());
      await noteLog(service.vault);
      service.clock.advance(2 * anHour);
      const readClear: typeof log.readClear = async (after, limit) => {
        const page = await log.readClear(after, limit);
        return page.filter((event) => event.stream !== stream);
      };
      const hiding = { log: { ...log, readClear }, chain, keys };
      await expect(destroyOrphanKeys(hiding, service.clock.now())).rejects.toThrow('changed the log');
      expect((await service.call('GET', `/tokens/${id}`)).status).toBe(200);
      const { content } = await keyIdsOf(service, id);
      for (const keyId of content) expect(await stateOf(keyId)).toBe('open');
    },
  );

  test('keeps keys that were created after a log was restored, even if older keys have a later log position', async () => {
    const { log, chain, keys } = service.vault;
    const before = await keys.create(service.tenantId);
    const id = await create(service, aCard());
    service.clock.advance(2 * anHour);
    const atLaterHead = (key: Awaited<ReturnType<typeof keys.made>>[number]) =>
      key.keyId === before.id ? { ...key, logHead: key.logHead + 1_000_000 } : key;
    const made: typeof keys.made = async (...asked) => (await keys.made(...asked)).map(atLaterHead);
    await destroyOrphanKeys({ log, chain, keys: { ...keys, made } }, service.clock.now());
    expect(await stateOf(before.id)).toBe('destroyed');
    expect((await service.call('GET', `/tokens/${id}`)).status).toBe(200);
  });
});

/** Threat: the process is suspended for an hour, and then stores an event whose key has been destroyed. */
test('a write that takes more than ten minutes after it created its key stores nothing', async (context) => {
  embeddedOnly(context, 'the leases of a cluster use the same clock');
  const { keys } = service.vault;
  const createKey = keys.create;
  const writeAfter = async (ms: number) => {
    vi.spyOn(keys, 'create').mockImplementationOnce(async (tenantId) => {
      const key = await createKey(tenantId);
      service.clock.advance(ms);
      return key;
    });
    return service.call('POST', '/tokens', { type: 'token', data: 'x' });
  };
  expect((await writeAfter(590_000)).status).toBe(201);
  const before = await service.eventCount();
  expect((await writeAfter(600_001)).body['code']).toBe('store_unavailable');
  expect(await service.eventCount()).toBe(before);
});
