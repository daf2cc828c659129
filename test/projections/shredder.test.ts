import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openAuthenticStores } from '#src/compose/embedded/embedded-stores.js';
import type { KeyRing } from '#src/keys/key-ring.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { shredEndedKeys, shredWholeLog, shredWithNotice } from '#src/projections/shredder.js';
import { deletedWithLivingKeys } from '../erasure/support.js';
import { profile } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

test('keys that a crash left are destroyed and counted once, and the checkpoint moves to the head', async () => {
  const { log, keys } = service.vault;
  await shredEndedKeys(log, keys);
  for (let count = 0; count < 3; count += 1) await deletedWithLivingKeys(service);
  expect(await shredEndedKeys(log, keys)).toBe(6);
  expect(await keys.checkpoint('shredder')).toBe(await log.head());
  const read = vi.spyOn(log, 'readClear');
  expect(await shredEndedKeys(log, keys)).toBe(0);
  expect(read.mock.calls.map(([from]) => from)).toEqual([await log.head()]);
});

test('the whole log is read even if another process saves its checkpoint in the meantime', async () => {
  const { log, keys } = service.vault;
  await deletedWithLivingKeys(service);
  const head = await log.head();
  const other = {
    ...keys,
    saveCheckpoint: async (name: 'shredder', position: number) => {
      await keys.saveCheckpoint(name, position);
      await keys.saveCheckpoint(name, head);
    },
  };
  expect(await shredWholeLog(log, other, head)).toBe(2);
});

test('the shredder ends although there is always another event', async () => {
  const { log, keys } = service.vault;
  const busy: typeof log = {
    ...log,
    async readClear(after, limit) {
      await service.call('POST', '/tokens', { type: 'token', data: 1 });
      return log.readClear(after, limit);
    },
  };
  await deletedWithLivingKeys(service);
  expect(await shredEndedKeys(busy, keys)).toBe(2);
});

test('the shredder reads the events up to a given position, and none after it', async () => {
  const { log, keys } = service.vault;
  await shredEndedKeys(log, keys);
  await deletedWithLivingKeys(service);
  const head = await log.head();
  expect(await shredEndedKeys(log, keys, head - 1)).toBe(0);
  expect(await shredEndedKeys(log, keys, head)).toBe(2);
});

test('the keys of a deleted tenant that a crash left are destroyed', async () => {
  const { log, keys } = service.vault;
  await shredEndedKeys(log, keys);
  const crash = vi.spyOn(keys, 'destroyTenant').mockRejectedValueOnce(new StoreUnavailable('keys.db', 'busy'));
  const deleted = await service.call('DELETE', '/tenants/self', { name: 'test' }, { key: service.managementKey });
  crash.mockRestore();
  expect(deleted.status).toBe(503);
  expect(await keys.tenantKeys(service.tenantId)).not.toBeNull();
  expect(await shredEndedKeys(log, keys)).toBeGreaterThan(0);
  expect(await keys.tenantKeys(service.tenantId)).toBeNull();
});

test.each([
  ['even if no event ended a key', false],
  ['and ended keys do not prevent that', true],
])('revisions that were not recorded before a crash are recorded from the log, %s', async (_, endsKey) => {
  const { log, keys } = service.vault;
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };
  const create = async (body: object) => String((await service.call('POST', '/tokens', body)).body['id']);
  const [card, moved] = [await create({ type: 'card', data }), await create({ type: 'token', data: 'x' })];
  if (endsKey) expect((await service.call('DELETE', `/tokens/${card}/cvc`)).status).toBe(204);
  // The revisions of a token must not count as revisions of its tenant, which are lower.
  for (let revision = 1; revision <= 20; revision += 1) {
    const moves = { containers: [`/${revision}/`] };
    expect((await service.call('PATCH', `/tokens/${moved}`, moves)).status).toBe(200);
  }
  await service.application(['application:read'], 'management');
  const revisions = async () => {
    const created = (await log.readAll(0, 1_000)).filter(({ type }) => type === 'token.created');
    const used = await Promise.all(
      created.map(({ clear, tenantId }) => keys.use(tenantId, String(clear['key']), () => 0)),
    );
    const records = await Promise.all(
      (['tenant', 'application'] as const).map((kind) => service.vault.directory.check(kind)),
    );
    const noted = await keys.directoryRevisions(records.flat().map(({ record }) => record));
    return { keys: used.map((use) => (use.state === 'open' ? use.revision : use.state)), directory: noted };
  };
  const before = await revisions();
  expect(before.keys).toEqual([endsKey ? 1 : null, 20]);
  expect(before.directory.size).toBe(4);
  await keys.forgetRevisions();
  expect((await revisions()).keys).toEqual([null, null]);
  await keys.saveCheckpoint('shredder', 0);
  await shredEndedKeys(log, keys);
  expect(await revisions()).toEqual(before);
});

test('keys that no event marks for destruction are kept', async () => {
  const created = await service.call('POST', '/tokens', { type: 'token', data: 'kept' });
  await service.vault.keys.saveCheckpoint('shredder', 0);
  expect(await shredEndedKeys(service.vault.log, service.vault.keys)).toBe(0);
  expect((await service.call('GET', `/tokens/${created.body['id']}`)).status).toBe(200);
});

test('the checkpoint does not pass an event whose keys could not be destroyed', async () => {
  const { log, keys } = service.vault;
  await shredEndedKeys(log, keys);
  const before = await keys.checkpoint('shredder');
  await deletedWithLivingKeys(service);
  const busy: KeyRing = {
    ...keys,
    destroy: async () => {
      throw new StoreUnavailable('keys.db', 'busy');
    },
  };
  await expect(shredEndedKeys(log, busy)).rejects.toBeInstanceOf(StoreUnavailable);
  expect(await keys.checkpoint('shredder')).toBe(before);
  expect(await shredEndedKeys(log, keys)).toBe(2);
});

test('if the checkpoint is past the head of a restored log, the shredder starts over', async () => {
  const { log, keys } = service.vault;
  // If the checkpoint stayed, the shredder would skip the events before it once the log has grown that far.
  await keys.saveCheckpoint('shredder', (await log.head()) + 100);
  expect(await shredEndedKeys(log, keys)).toBe(0);
  expect(await keys.checkpoint('shredder')).toBe(await log.head());
  await deletedWithLivingKeys(service);
  await keys.saveCheckpoint('shredder', (await log.head()) + 100);
  expect(await shredEndedKeys(log, keys)).toBe(2);
  expect(await keys.checkpoint('shredder')).toBe(await log.head());
});

test.skipIf(profile === 'cluster')('the next start does not read the stored events again', async () => {
  for (let from = 0; from < 1_200; from += 100) {
    const tokens = Array.from({ length: 100 }, (_, index) => ({ type: 'token', data: `value ${from + index}` }));
    expect((await service.call('POST', '/tokenize', tokens)).status).toBe(200);
  }
  const { dataDir, rootKey, clock } = service;
  await service.stop();
  const stores = await openAuthenticStores(dataDir, rootKey, clock, () => undefined);
  const [came, head] = [await stores.keys.checkpoint('shredder'), await stores.storedLog.head()];
  await stores.close();
  service = await startTestService({ dataDir, rootKey });
  expect(head).toBeGreaterThan(1_200);
  expect(came).toBe(head);
});

test.skipIf(profile === 'cluster')(
  'a caller that waits for the shredder is notified if there is much to read',
  async () => {
    const { log, keys } = service.vault;
    const notices: string[] = [];
    const longer = { ...log, head: async () => 250_000 };
    await shredWithNotice(longer, keys, (text) => void notices.push(text));
    await shredWithNotice(log, keys, (text) => void notices.push(text));
    expect(notices).toEqual([expect.stringMatching(/^reading \d{3},\d{3} events for the keys that they ended$/)]);
  },
);
