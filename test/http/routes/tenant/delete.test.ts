import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { stateFrom } from '#src/ports/webhook-store.js';
import { filesOf } from '../../../erasure/files.js';
import { copyOf } from '../../../erasure/support.js';
import { holdKeys } from '../../../support/hold-keys.js';
import { embeddedOnly, profile } from '../../../support/profile.js';
import { startTestService, type TestService } from '../../../support/test-service.js';
import { makeApplication, makeManager, manage, statusOf } from '../directory-support.js';
import { create, expectProblem, expectRefusal, hourMs, invalid } from '../support.js';

async function withService(run: (service: TestService) => Promise<void>): Promise<void> {
  const service = await startTestService();
  try {
    await run(service);
    await expectHealthy(service);
  } finally {
    await service.close();
  }
}

async function expectHealthy({ errors, service }: TestService): Promise<void> {
  expect(errors).toEqual([]);
  expect(await service.state()).toMatchObject({ reasons: [] });
}

const deletion = (service: TestService, name: unknown = 'test', key?: string) =>
  manage(service, 'DELETE', '/tenants/self', { name }, key);

/** Creates a webhook with a stored state and a sealed id. Returns a function that tells which of the two still exist. */
async function makeWebhook(service: TestService) {
  const { webhookStore, random, clock } = service.vault;
  const body = { url: 'https://example.com/hook', event_types: ['token.deleted'] };
  const made = await manage(service, 'POST', '/webhooks', body);
  expect(made.status, made.text).toBe(201);
  const webhookId = String(made.body['id']);
  const eventId = random.uuid();
  await webhookStore.save(webhookId, 0, stateFrom(0), []);
  await webhookStore.keepIds([{ webhookId, eventId, sealed: Buffer.alloc(40, 1), at: clock.now() }]);
  return async () => ({
    state: (await webhookStore.state(webhookId)) !== null,
    id: (await webhookStore.sealedIds(webhookId, [eventId])).has(eventId),
  });
}

describe('204 DELETE /tenants/self', () => {
  test('the states and the sealed ids of the tenant’s webhooks are removed', () =>
    withService(async (service) => {
      const webhooks = [await makeWebhook(service), await makeWebhook(service)];
      for (const left of webhooks) expect(await left()).toEqual({ state: true, id: true });
      expect((await deletion(service)).status).toBe(204);
      for (const left of webhooks) expect(await left()).toEqual({ state: false, id: false });
    }));

  test('webhook states that cannot be removed do not make the deletion fail', () =>
    withService(async (service) => {
      const left = await makeWebhook(service);
      const down = vi
        .spyOn(service.vault.webhookStore, 'remove')
        .mockRejectedValue(new StoreUnavailable('vault.db', 'busy'));
      expect((await deletion(service)).status).toBe(204);
      expect(await service.vault.keys.tenantKeys(service.tenantId)).toBeNull();
      down.mockRestore();
      expect(await left()).toEqual({ state: true, id: true });
    }));

  test('every key returns 401 from then on, and other tenants are not affected', () =>
    withService(async (service) => {
      const keys = [service.key, service.managementKey, (await makeApplication(service)).key];
      const other = await service.otherTenant();
      const { id } = await create(service, { type: 'token', data: 'kept' }, { key: other });
      for (const key of keys) expect(await statusOf(service, key)).toBe(200);
      expect(await deletion(service)).toMatchObject({ status: 204, text: '' });
      for (const key of keys) {
        expect(await statusOf(service, key)).toBe(401);
        expect((await service.call('POST', '/tokens', { type: 'token', data: 1 }, { key })).status).toBe(401);
      }
      expect(await deletion(service), 'a repeat').toMatchObject({ status: 401 });
      expect((await service.call('GET', `/tokens/${id}`, undefined, { key: other })).body['data']).toBe('kept');
    }));

  test('no file contains the tenant’s wrapped keys, and they stay destroyed after a restart', async (context) => {
    embeddedOnly(context, 'it looks into the files of SQLite');
    const service = await startTestService();
    try {
      const { id } = await create(service, { type: 'token', data: 'Sensitive' });
      const wrapped = wrappedKeys(service);
      expect(wrapped).toHaveLength(2);
      for (const key of wrapped) expect(filesWith(service.dataDir, key), 'before').not.toEqual([]);
      await deletion(service);
      for (const key of wrapped) expect(filesWith(service.dataDir, key), 'after').toEqual([]);
      expect(await service.vault.keys.tenantKeys(service.tenantId)).toBeNull();
      await expectHealthy(service);
      await service.stop();
      const again = await startTestService({ dataDir: service.dataDir, rootKey: service.rootKey });
      try {
        expect(await again.vault.keys.tenantKeys(service.tenantId)).toBeNull();
        expect(await statusOf(again, service.managementKey)).toBe(401);
        expect((await again.call('GET', `/tokens/${id}`)).status).toBe(404);
        await expectHealthy(again);
      } finally {
        await again.stop();
      }
    } finally {
      await service.close();
    }
  });

  test('the deletion is an event in the tenant’s stream', () =>
    withService(async (service) => {
      expect(await deletedEvents(service)).toEqual([]);
      await deletion(service);
      const [deleted] = await deletedEvents(service);
      expect(deleted).toMatchObject({ stream: `tenant-${service.tenantId}`, clear: {} });
    }));

  test('if an older copy of the key store is put back, the tenant’s keys are destroyed again', async (context) => {
    embeddedOnly(context, 'it puts files of SQLite back');
    const service = await startTestService();
    const { dataDir, rootKey, tenantId } = service;
    try {
      const wrapped = wrappedKeys(service);
      expect(wrapped).toHaveLength(2);
      const older = await copyOf(dataDir, ['keys.db', 'keys.db-wal']);
      expect((await deletion(service)).status).toBe(204);
      await service.stop();
      for (const key of wrapped) expect(filesWith(dataDir, key), 'deleted').toEqual([]);
      execFileSync('cp', [join(older, 'keys.db'), join(older, 'keys.db-wal'), dataDir]);
      for (const key of wrapped) expect(filesWith(dataDir, key), 'put back').not.toEqual([]);
      const again = await startTestService({ dataDir, rootKey });
      try {
        for (const key of wrapped) expect(filesWith(dataDir, key), 'after the start').toEqual([]);
        expect(await again.vault.keys.tenantKeys(tenantId)).toBeNull();
        await expectHealthy(again);
      } finally {
        await again.stop();
        rmSync(older, { recursive: true });
      }
    } finally {
      await service.close();
    }
  });

  test('the tokens of a deleted tenant expire on time, and do not delay other tokens', () =>
    withService(async (service) => {
      const card = { number: '4242424242424242', cvc: '123' };
      const expires_at = new Date(service.clock.now() + 2 * hourMs).toISOString();
      await create(service, { type: 'card', data: card, expires_at });
      const other = await service.otherTenant();
      await create(service, { type: 'token', data: 1, expires_at }, { key: other });
      await deletion(service);
      service.clock.advance(3 * hourMs);
      expect(await service.service.sweep.run()).toBeGreaterThan(0);
      expect(await service.service.sweep.run()).toBe(0);
    }));

  test('requests in flight get a response, and none of them reports a lost key', () =>
    withService(async (service) => {
      const { id } = await create(service, { type: 'token', data: 1 });
      const racing = Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0
          ? service.call('GET', `/tokens/${id}`)
          : service.call('POST', '/tokens', { type: 'token', data: i }),
      );
      const [gone, ...answers] = await Promise.all([deletion(service), ...racing]);
      expect(gone?.status).toBe(204);
      for (const { status, text } of answers) expect([200, 201, 401, 503], text).toContain(status);
    }));
});

describe('503 while the keys cannot be destroyed', () => {
  test('the tenant’s API keys already get 401, nothing can be read, and a retry finishes the deletion', () =>
    withService(async (service) => {
      const [wrapped] = profile === 'embedded' ? wrappedKeys(service) : [];
      const stranger = await makeManager(service, ['tenant:delete']);
      const left = await makeWebhook(service);
      const release = holdKeys(service);
      // Adds a key to the store. The reader's snapshot then differs from the current state, so the write-ahead log
      // must retain the old state.
      await service.vault.keys.createTenant(service.vault.random.uuid());
      const refused = await deletion(service);
      expect(refused.status, refused.text).toBe(503);
      expectProblem(refused);
      expect(await statusOf(service, service.managementKey)).toBe(401);
      if (profile === 'embedded') expect(await service.vault.keys.tenantKeys(service.tenantId)).toBeNull();
      release();
      expect((await deletion(service, 'test', stranger.key)).status, 'by another application').toBe(401);
      expect((await deletion(service)).status).toBe(204);
      expect(await left()).toEqual({ state: false, id: false });
      if (wrapped !== undefined) expect(filesWith(service.dataDir, wrapped)).toEqual([]);
      const streamReads = vi.spyOn(service.vault.log, 'readClearFrom');
      expect((await deletion(service)).status, 'nothing is left').toBe(401);
      expect(streamReads).not.toHaveBeenCalled();
    }));
});

describe('400 and 403', () => {
  test('with another name, no name or no body, nothing is deleted', () =>
    withService(async (service) => {
      for (const name of ['', 'Test', 'test ', null, 1]) {
        await expectRefusal(service, () => deletion(service, name), invalid('name'));
      }
      await expectRefusal(service, () => manage(service, 'DELETE', '/tenants/self'), invalid('body'));
      expect(await statusOf(service, service.key)).toBe(200);
    }));

  test('without tenant:delete', () =>
    withService(async (service) => {
      const { key } = await makeManager(service, ['tenant:update', 'tenant:read']);
      for (const one of [key, service.key]) {
        const send = () => deletion(service, 'test', one);
        await expectRefusal(service, send, { status: 403, code: 'permission_missing' });
      }
    }));
});

function wrappedKeys({ dataDir, tenantId }: TestService): Buffer[] {
  const database = pinStatements(join(dataDir, 'keys.db'), { readonly: true });
  try {
    const keys = database.prepare('SELECT wrapped FROM tenant_keys WHERE tenant = ?').pluck().all(tenantId);
    return keys as Buffer[];
  } finally {
    database.close();
  }
}

/** Returns the names of the files in the data directory that contain these bytes. */
function filesWith(dataDir: string, bytes: Buffer): string[] {
  return filesOf(dataDir).flatMap(({ name, content }) => (content.includes(bytes) ? [name] : []));
}

async function deletedEvents(service: TestService) {
  return (await service.vault.log.readAll(0, 1_000_000)).filter(({ type }) => type === 'tenant.deleted');
}
