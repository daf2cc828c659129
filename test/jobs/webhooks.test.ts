import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test as plain, vi } from 'vitest';
import { MongoBroken } from '#src/adapters/mongodb/connection.js';
import { webhookSender } from '#src/adapters/webhook-target/webhook-sender.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { deleteToken } from '#src/commands/tokens/delete-token.js';
import { recordDue } from '#src/commands/tokens/record-due.js';
import { sendTestEvent } from '#src/commands/webhooks/post-to-webhook.js';
import { replayDeliveries } from '#src/commands/webhooks/replay-deliveries.js';
import type { JsonObject } from '#src/domain/json.js';
import { createWebhookDeliveries } from '#src/jobs/webhooks/deliver-webhooks.js';
import { TenantKeysBroken } from '#src/keys/tenant-keys-broken.js';
import { ForgedLog } from '#src/ports/event-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { stateFrom } from '#src/ports/webhook-store.js';
import { webhooks } from '#src/queries/findings/webhooks.js';
import { findWebhook } from '#src/queries/tenancy/webhooks.js';
import { ForgedWebhookState } from '#src/vault/authentic-webhook-store.js';
import { ForgedRow } from '#src/vault/forged-row.js';
import { rowsAttacker } from '../commands/integrity/rows-attacker.js';
import { anEvent } from '../contract/support.js';
import { streamOf } from '../erasure/support.js';
import { embeddedOnly } from '../support/profile.js';
import { rule, startTestService, type TestService } from '../support/test-service.js';
import { type Receiver, startReceiver } from './receiver.js';

const [minute, hour, day] = [60_000, 3_600_000, 24 * 3_600_000];

/** Starts a service that may send webhooks to this machine. */
function startSendingService(limitMs?: number): Promise<TestService> {
  const limit = limitMs === undefined ? {} : { limitMs };
  return startTestService({ webhookSender: webhookSender({ allowsPrivate: true, ...limit }) });
}

const test = plain
  .extend<{ service: TestService }>({
    // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the pattern.
    service: async ({}, use) => {
      const service = await startSendingService();
      await use(service);
      await service.close();
    },
  })
  .extend<{ receiver: Receiver }>({
    // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the pattern.
    receiver: async ({}, use) => {
      const receiver = await startReceiver();
      await use(receiver);
      await receiver.close();
    },
  });

const tokenEvents = ['token.created', 'token.updated', 'token.deleted', 'token.expired', 'token.property.expired'];

async function subscribe(service: TestService, url: string, fields: JsonObject = {}) {
  const body = { url, event_types: tokenEvents, ...fields };
  const created = await service.call('POST', '/webhooks', body, { key: service.managementKey });
  expect(created.status, created.text).toBe(201);
  return { id: String(created.body['id']), secret: String(created.body['secret']) };
}

function told({ received }: Receiver) {
  return received.map(({ body, data }) => [body['type'], data['token_id']] as const);
}

/** Returns the events in a fixed order, because events of different tokens are sent at the same time. */
function sorted(events: readonly (readonly unknown[])[]): readonly string[] {
  return events.map(String).sort();
}

async function attemptsOf(service: TestService, id: string, query = ''): Promise<readonly JsonObject[]> {
  const page = await service.call('GET', `/webhooks/${id}/deliveries?size=100${query}`, undefined, {
    key: service.managementKey,
  });
  expect(page.status, page.text).toBe(200);
  return page.body['data'] as readonly JsonObject[];
}

/** Replaces the fields of a webhook. */
async function change(service: TestService, id: string, fields: JsonObject) {
  const body = { event_types: tokenEvents, ...fields };
  const changed = await service.call('PUT', `/webhooks/${id}`, body, { key: service.managementKey });
  expect(changed.status, changed.text).toBe(200);
}

function enable(service: TestService, { url }: Receiver, id: string, enabled: boolean) {
  return change(service, id, { url, enabled });
}

function createdIds({ received }: Receiver): readonly unknown[] {
  return received
    .filter(({ body }) => body['type'] === 'token.created')
    .map(({ data }) => data['token_id'])
    .sort();
}

const create = (service: TestService, id: string, more: JsonObject = {}) =>
  service.call('POST', '/tokens', { id, type: 'token', data: 'secret-data', ...more });

describe('a webhook', () => {
  test('receives each event in order, with ids and no data, and with a signature that the reference library accepts', async ({
    service,
    receiver,
  }) => {
    await create(service, 'before-it-existed');
    const { secret } = await subscribe(service, receiver.url);
    await create(service, 'customer-1', { metadata: { plan: 'secret-plan' } });
    await service.call('PATCH', '/tokens/customer-1', { metadata: { plan: 'other-plan' } });
    await service.call('DELETE', '/tokens/customer-1');
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([
      ['token.created', undefined],
      ['token.updated', undefined],
      ['token.deleted', 'customer-1'],
    ]);
    await create(service, 'customer-2');
    await service.service.webhooks.run();
    expect(told(receiver).slice(3)).toEqual([['token.created', 'customer-2']]);
    for (const { text, headers } of receiver.received) {
      expect(text).not.toMatch(/secret-|other-plan/);
      const at = Number(headers['webhook-timestamp']) * 1_000;
      const now = Date.now;
      Date.now = () => at;
      try {
        expect(new Webhook(secret).verify(text, headers)).toEqual(JSON.parse(text));
        expect(() => new Webhook(secret).verify(`${text} `, headers)).toThrow();
      } finally {
        Date.now = now;
      }
    }
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(4);
    const refs = receiver.received.slice(0, 3).map(({ data }) => data['entity_ref']);
    expect(new Set(refs).size).toBe(1);
    expect(refs[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(service.errors).toEqual([]);
  });

  test('is notified about an expiry and a purged code, with the id of the token', async ({ service, receiver }) => {
    await subscribe(service, receiver.url, { event_types: ['token.expired', 'token.property.expired'] });
    const at = new Date(service.clock.now() + 2 * hour).toISOString();
    await create(service, 'card-1', {
      type: 'card',
      data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2099, cvc: '123' },
      expires_at: at,
    });
    service.clock.advance(hour + minute);
    await service.service.sweep.run();
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([['token.property.expired', 'card-1']]);
    service.clock.advance(hour + minute);
    await service.service.sweep.run();
    await service.service.webhooks.run();
    expect(told(receiver).slice(1)).toEqual([['token.expired', 'card-1']]);
  });

  test('filters by type and by container, even for tokens that no longer exist', async ({ service, receiver }) => {
    await subscribe(service, receiver.url, { containers: ['/pci/'], token_types: ['token'] });
    await create(service, 'inside', { containers: ['/pci/high/'] });
    await create(service, 'outside', { containers: ['/general/'] });
    await create(service, 'other-type', { type: 'social_security_number', data: '123456789', containers: ['/pci/'] });
    await service.service.webhooks.run();
    for (const id of ['inside', 'outside', 'other-type']) await service.call('DELETE', `/tokens/${id}`);
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([
      ['token.created', 'inside'],
      ['token.deleted', 'inside'],
    ]);
  });

  test('receives nothing from another tenant', async ({ service, receiver }) => {
    await subscribe(service, receiver.url);
    await service.call(
      'POST',
      '/tokens',
      { id: 'foreign', type: 'token', data: 1 },
      { key: await service.otherTenant() },
    );
    await service.service.webhooks.run();
    expect(receiver.received).toEqual([]);
  });

  test('receives no denied request of another tenant', async ({ service, receiver }) => {
    await subscribe(service, receiver.url, { event_types: ['access.denied'] });
    const other = await createTenant(service.vault, 'other', [
      {
        name: 'reader',
        type: 'private',
        access: { kind: 'permissions', permissions: ['token:read'] },
        expiresAt: null,
      },
    ]);
    const key = other.keys[0]?.reveal() ?? '';
    expect((await service.call('DELETE', '/tokens/theirs', undefined, { key })).status).toBe(403);
    await service.vault.recorder.now([]);
    await service.service.webhooks.run();
    expect(receiver.received).toEqual([]);
  });

  test('is notified about the end of a life by the containers of that life, even if the id has a next life', async ({
    service,
    receiver,
  }) => {
    await subscribe(service, receiver.url, { containers: ['/pci/'] });
    await create(service, 'reused', { containers: ['/pci/'] });
    await service.service.webhooks.run();
    expect((await service.call('DELETE', '/tokens/reused')).status).toBe(204);
    expect((await create(service, 'reused', { containers: ['/general/'] })).status).toBe(201);
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([
      ['token.created', 'reused'],
      ['token.deleted', 'reused'],
    ]);
  });

  test('is notified about changes to applications and their keys', async ({ service, receiver }) => {
    await subscribe(service, receiver.url, { event_types: ['application.created', 'application.key.issued'] });
    await service.application(['token:read']);
    await service.service.webhooks.run();
    expect(receiver.received.map(({ body }) => body['type'])).toEqual([
      'application.created',
      'application.key.issued',
    ]);
    const [created, issued] = receiver.received;
    expect(issued?.data['application_id']).toBe(created?.data['application_id']);
    expect(issued?.data['key_id']).toMatch(/-/);
    expect(issued?.text).not.toContain('hash');
  });

  test('that is disabled during a backlog of denied requests gets only the one under way', async ({
    service,
    receiver,
  }) => {
    const key = service.managementKey;
    const { id } = await subscribe(service, receiver.url, { event_types: ['access.denied'] });
    await create(service, 'customer-1');
    for (let n = 0; n < 5; n += 1) {
      const denied = await service.application(['token:read']);
      await service.call('DELETE', '/tokens/customer-1', undefined, { key: denied });
    }
    await service.vault.recorder.now([]);
    const body = { url: receiver.url, event_types: ['access.denied'], enabled: false };
    receiver.respond = (response) => {
      void service.call('PUT', `/webhooks/${id}`, body, { key }).then(() => response.writeHead(204).end());
    };
    await service.service.webhooks.run();
    await service.service.webhooks.run();
    expect(receiver.received.length).toBe(1);
    receiver.respond = (response) => response.writeHead(204).end();
    await service.call('PUT', `/webhooks/${id}`, { ...body, enabled: true }, { key });
    await service.service.webhooks.run();
    expect(new Set(receiver.received.map(({ data }) => data['application_id'])).size).toBe(5);
  });

  test('is notified about denied requests at most once per application per minute, and retries until it has received them', async ({
    service,
    receiver,
  }) => {
    const reader = await service.application(['token:read']);
    const other = await service.application(['token:read']);
    const deny = (key: string) => service.call('DELETE', '/tokens/customer-1', undefined, { key });
    await create(service, 'customer-1');
    await deny(reader);
    await service.vault.recorder.now([]);
    service.clock.advance(1_000);
    const { id } = await subscribe(service, receiver.url, { event_types: ['access.denied'] });
    const round = async () => {
      await service.vault.recorder.now([]);
      await service.service.webhooks.run();
    };
    receiver.respond = (response) => response.writeHead(500).end();
    await deny(reader);
    await deny(reader);
    await deny(other);
    await round();
    await round();
    expect(receiver.received).toHaveLength(1);
    receiver.respond = (response) => response.writeHead(204).end();
    service.clock.advance(10_000);
    await round();
    const denials = receiver.received.slice(1);
    expect(denials.map(({ body }) => body['type'])).toEqual(['access.denied', 'access.denied']);
    expect(new Set(denials.map(({ data }) => data['application_id'])).size).toBe(2);
    expect(denials[0]?.headers['webhook-id']).toBe(receiver.received[0]?.headers['webhook-id']);
    expect(denials[0]?.data).toMatchObject({ entity_type: 'token', operation: 'delete' });
    expect(denials[0]?.text).not.toContain('customer-1');
    await round();
    expect(receiver.received).toHaveLength(3);
    // The first denial was 10 seconds ago.
    service.clock.advance(minute - 10_000 - 1);
    await deny(reader);
    await round();
    expect(receiver.received).toHaveLength(3);
    service.clock.advance(1);
    await deny(reader);
    await round();
    expect(receiver.received).toHaveLength(4);
    const outcomes = (await attemptsOf(service, id)).map(({ outcome, attempt }) => [outcome, attempt]);
    expect(sorted(outcomes)).toEqual(['delivered,1', 'delivered,1', 'delivered,2', 'failed,1']);
  });

  test('gets no later denied request before one whose delivery failed, even if the later one is on another page', async ({
    service,
    receiver,
  }) => {
    await subscribe(service, receiver.url, { event_types: ['access.denied'] });
    const denied: unknown[] = [];
    for (const _ of [1, 2]) {
      const key = await service.application(['token:read']);
      expect((await service.call('DELETE', '/tokens/customer-1', undefined, { key })).status).toBe(403);
      await service.vault.recorder.now([]);
      denied.push((await service.service.authenticate(key))?.applicationId);
    }
    const { accessLog } = service.vault;
    const batches: typeof accessLog.batches = (chain, after) => accessLog.batches(chain, after, 1);
    const fail = (error: unknown) => expect.unreachable(String(error));
    const deliveries = createWebhookDeliveries({ ...service.vault, accessLog: { ...accessLog, batches } }, fail);
    receiver.respond = (response) => response.writeHead(500).end();
    await deliveries.run();
    receiver.respond = (response) => response.writeHead(204).end();
    service.clock.advance(minute);
    await deliveries.run();
    const told = receiver.received.map(({ data }) => data['application_id']);
    expect(told).toEqual([denied[0], ...denied]);
  });

  test('remembers no chain of the access log whose batches have all been dropped', async ({ service, receiver }) => {
    const { id } = await subscribe(service, receiver.url, { event_types: ['access.denied'] });
    const key = await service.application(['token:read']);
    await service.call('DELETE', '/tokens/customer-1', undefined, { key });
    await service.vault.recorder.now([]);
    const stored = service.vault.accessLog;
    const [only = ''] = await stored.chains();
    let chain = 'first';
    const accessLog: typeof stored = {
      ...stored,
      heads: async (since) => (await stored.heads(since)).map((head) => ({ ...head, chain })),
      chains: async () => [chain],
      batches: (_chain, ...page) => stored.batches(only, ...page),
    };
    const fail = (error: unknown) => expect.unreachable(String(error));
    const deliveries = createWebhookDeliveries({ ...service.vault, accessLog }, fail);
    for (chain of ['first', 'second', 'third']) {
      await deliveries.run();
      const { state } = (await service.vault.webhookStore.state(id)) ?? {};
      expect(state?.denials?.chains.map(([name]) => name)).toEqual([chain]);
    }
    expect(receiver.received).toHaveLength(1);
  });

  test('ends its round although there is always another event', async ({ service, receiver }) => {
    await subscribe(service, receiver.url);
    await create(service, 'first');
    let reads = 0;
    const readClear: TestService['vault']['log']['readClear'] = async (...page) => {
      reads += 1;
      if (reads > 20) expect.unreachable('the round does not end');
      const events = await service.vault.log.readClear(...page);
      await create(service, `next-${reads}`);
      return events;
    };
    const fail = (error: unknown) => expect.unreachable(String(error));
    const deliveries = createWebhookDeliveries({ ...service.vault, log: { ...service.vault.log, readClear } }, fail);
    await deliveries.run();
    await deliveries.run();
    expect(told(receiver)).toHaveLength(2);
    expect(reads).toBe(2);
  });

  test('does not read the events that do not concern it again in each round, and stores its position only after many', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url, { event_types: ['application.deleted'] });
    let read = 0;
    const readClear: TestService['vault']['log']['readClear'] = async (...page) => {
      const events = await service.vault.log.readClear(...page);
      read += events.length;
      return events;
    };
    const log = { ...service.vault.log, readClear };
    const fail = (error: unknown) => expect.unreachable(String(error));
    const deliveries = createWebhookDeliveries({ ...service.vault, log }, fail);
    await deliveries.run();
    const before = await service.vault.webhookStore.state(id);
    for (let index = 0; index < 30; index += 1) await create(service, `customer-${index}`);
    await deliveries.run();
    expect(read).toBeGreaterThanOrEqual(30);
    read = 0;
    await deliveries.run();
    expect(read).toBe(0);
    await create(service, 'customer-30');
    await deliveries.run();
    expect(read).toBe(1);
    expect((await service.vault.webhookStore.state(id))?.version).toBe(before?.version);
    const { body } = await service.call('GET', '/applications/key');
    await service.call('DELETE', `/applications/${body['id']}`, undefined, { key: service.managementKey });
    await deliveries.run();
    expect(told(receiver)).toEqual([['application.deleted', undefined]]);
  });

  test('still gets a denied request of the previous month if the receiver accepts it within three days', async ({
    service,
    receiver,
  }) => {
    const reader = await service.application(['token:read']);
    await subscribe(service, receiver.url, { event_types: ['access.denied'] });
    expect((await service.call('DELETE', '/tokens/customer-1', undefined, { key: reader })).status).toBe(403);
    await service.vault.recorder.now([]);
    receiver.respond = (response) => response.writeHead(500).end();
    for (let hours = 0; hours < 60; hours += 4) {
      await service.service.webhooks.run();
      service.clock.advance(4 * hour);
    }
    receiver.respond = (response) => response.writeHead(204).end();
    expect(receiver.received.length).toBe(15);
    await service.service.webhooks.run();
    await service.service.webhooks.run();
    expect(receiver.received.length).toBe(16);
  });

  test('with filters for tokens is still notified about denied requests for all tokens', async ({
    service,
    receiver,
  }) => {
    const reader = await service.application(['token:read']);
    await create(service, 'customer-2');
    await subscribe(service, receiver.url, {
      event_types: ['access.denied'],
      token_types: ['card'],
      containers: ['/pci/'],
    });
    await service.call('DELETE', '/tokens/customer-2', undefined, { key: reader });
    await service.vault.recorder.now([]);
    await service.service.webhooks.run();
    expect(receiver.received.map(({ body }) => body['type'])).toEqual(['access.denied']);
  });

  test('that fails gets the same event again, with increasing delays, until the vault parks the event', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url);
    receiver.respond = (response) => response.writeHead(500).end();
    const doctor = () => webhooks(service.vault, null);
    await create(service, 'customer-1');
    expect(await doctor()).toMatchObject({ state: 'ok', says: 'no problem with the deliveries of 1 webhook' });
    await service.service.webhooks.run();
    await service.service.webhooks.run();
    expect(receiver.received).toHaveLength(1);
    expect(await doctor()).toMatchObject({ state: 'ok' });
    const [first] = await attemptsOf(service, id);
    expect(first).toMatchObject({ outcome: 'failed', response_status: 500, attempt: 1 });
    const beganAt = service.clock.now();
    const gaps: number[] = [];
    let last = beganAt;
    for (let tries = 0; tries < 60; tries += 1) {
      const [newest] = await attemptsOf(service, id);
      if (newest?.['outcome'] === 'parked') break;
      if (tries === 5) {
        const says = `${id} of tenant ${service.tenantId} (1 delivery keeps failing)`;
        expect(await doctor()).toMatchObject({ state: 'problem', says });
      }
      const next = Date.parse(String(newest?.['next_attempt_at']));
      gaps.push(next - last);
      last = next;
      service.clock.advance(next - service.clock.now());
      await service.service.webhooks.run();
    }
    expect(gaps).toEqual([...gaps].sort((one, other) => one - other));
    expect(last - beganAt).toBeGreaterThan(3 * day);
    expect(last - beganAt).toBeLessThan(3 * day + 4 * hour);
    expect(await attemptsOf(service, id, '&outcome=parked')).toHaveLength(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await doctor()).toMatchObject({
      state: 'problem',
      says: expect.stringContaining('1 delivery was parked in the last day'),
    });
    const count = receiver.received.length;
    service.clock.advance(day + minute);
    expect(await doctor()).toMatchObject({ state: 'ok' });
    await service.service.webhooks.run();
    expect(receiver.received).toHaveLength(count);
  });

  test('gets waiting events although their next attempts were scheduled while the clock was a year ahead', async ({
    service,
    receiver,
  }) => {
    const reader = await service.application(['token:read']);
    await subscribe(service, receiver.url, { event_types: ['token.created', 'access.denied'] });
    receiver.respond = (response) => response.writeHead(500).end();
    service.clock.step(365 * day);
    await create(service, 'customer-1');
    await service.call('DELETE', '/tokens/customer-1', undefined, { key: reader });
    await service.vault.recorder.now([]);
    await service.service.webhooks.run();
    const types = () => receiver.received.map(({ body }) => body['type']);
    expect(types()).toEqual(['token.created', 'access.denied']);
    service.clock.step(-365 * day);
    receiver.respond = (response) => response.writeHead(204).end();
    await service.service.webhooks.run();
    expect(types().slice(2)).toEqual(['token.created', 'access.denied']);
  });

  test('is notified about a denied request although the clock was a year ahead at an earlier one', async ({
    service,
    receiver,
  }) => {
    const reader = await service.application(['token:read']);
    await create(service, 'customer-1');
    await subscribe(service, receiver.url, { event_types: ['access.denied'] });
    const deny = async () => {
      await service.call('DELETE', '/tokens/customer-1', undefined, { key: reader });
      await service.vault.recorder.now([]);
      await service.service.webhooks.run();
    };
    service.clock.step(365 * day);
    await deny();
    service.clock.step(-365 * day);
    await deny();
    await deny();
    expect(receiver.received).toHaveLength(2);
    service.clock.advance(minute);
    await deny();
    expect(receiver.received).toHaveLength(3);
  });

  test('is notified about a denied request although the clock was a year ahead at its creation', async ({
    service,
    receiver,
  }) => {
    const [earlier, later] = [await service.application(['token:read']), await service.application(['token:read'])];
    await create(service, 'customer-1');
    const deny = async (key: string) => {
      await service.call('DELETE', '/tokens/customer-1', undefined, { key });
      await service.vault.recorder.now([]);
    };
    await deny(earlier);
    service.clock.step(365 * day);
    await subscribe(service, receiver.url, { event_types: ['access.denied'] });
    await service.service.webhooks.run();
    service.clock.step(-365 * day);
    await deny(later);
    await service.service.webhooks.run();
    const told = receiver.received.map(({ body }) => (body['data'] as Record<string, unknown>)['application_id']);
    expect(told).toEqual([(await service.service.authenticate(later))?.applicationId]);
  });

  test('that responds late gets the event again 5 seconds after the attempt has ended', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url);
    receiver.respond = (response) => {
      service.clock.advance(8_000);
      response.writeHead(500).end();
    };
    await create(service, 'customer-1');
    const beganAt = service.clock.now();
    await service.service.webhooks.run();
    const [attempt] = await attemptsOf(service, id);
    expect(Date.parse(String(attempt?.['created_at']))).toBe(beganAt);
    expect(Date.parse(String(attempt?.['next_attempt_at']))).toBe(beganAt + 8_000 + 5_000);
  });

  test('gets the events of one token in order, even if the first delivery fails', async ({ service, receiver }) => {
    await subscribe(service, receiver.url);
    let failing = true;
    receiver.respond = (response, { data }) =>
      response.writeHead(failing && data['token_id'] === 'first' ? 500 : 204).end();
    await create(service, 'first');
    await service.service.webhooks.run();
    await service.call('PATCH', '/tokens/first', { metadata: { a: 'b' } });
    await create(service, 'second');
    await service.service.webhooks.run();
    failing = false;
    service.clock.advance(minute);
    await service.service.webhooks.run();
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([
      ['token.created', 'first'],
      ['token.created', 'second'],
      ['token.created', 'first'],
      ['token.updated', 'first'],
    ]);
  });

  test('gets an event again although the token has left the containers of the webhook since the first attempt', async ({
    service,
    receiver,
  }) => {
    await subscribe(service, receiver.url, { containers: ['/pci/'] });
    receiver.respond = (response) => response.writeHead(500).end();
    await create(service, 'moved', { containers: ['/pci/high/'] });
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([['token.created', 'moved']]);
    const moved = await service.call('PATCH', '/tokens/moved', { containers: ['/general/'] });
    expect(moved.status, moved.text).toBe(200);
    receiver.respond = (response) => response.writeHead(204).end();
    service.clock.advance(minute);
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([
      ['token.created', 'moved'],
      ['token.created', 'moved'],
    ]);
  });

  test.for([
    ['its secret was rotated', {}],
    ['it got another address', { url: 'other' }],
    ['it got other token types and a store failed', { token_types: ['token'] }],
  ] as const)(
    'gets an event again although %s after the first attempt and the token then left its containers or was deleted',
    async ([, fields], { service, receiver }) => {
      const { id } = await subscribe(service, receiver.url, { containers: ['/pci/', '/bank/'] });
      receiver.respond = (response) => response.writeHead(500).end();
      for (const token of ['moved', 'gone']) await create(service, token, { containers: ['/pci/high/'] });
      await service.service.webhooks.run();
      service.clock.advance(minute);
      const other = await startReceiver();
      onTestFinished(other.close);
      const url = 'url' in fields ? other.url : receiver.url;
      if (Object.keys(fields).length > 0)
        await change(service, id, { containers: ['/bank/', '/pci/'], ...fields, url });
      else await service.call('POST', `/webhooks/${id}/secret`, undefined, { key: service.managementKey });
      await service.call('PATCH', '/tokens/moved', { containers: ['/general/'] });
      await service.call('DELETE', '/tokens/gone');
      if ('token_types' in fields) {
        const error = new StoreUnavailable('keys', 'no_answer');
        const log = { ...service.vault.log, readFrom: () => Promise.reject(error) };
        const failing = createWebhookDeliveries({ ...service.vault, log }, () => undefined);
        await failing.run();
        await failing.stop();
      }
      receiver.received.length = 0;
      receiver.respond = (response) => response.writeHead(204).end();
      await service.service.webhooks.run();
      expect(sorted(told(url === other.url ? other : receiver))).toEqual([
        'token.created,',
        'token.created,moved',
        'token.deleted,gone',
      ]);
    },
  );

  test.for([
    ['the containers', { containers: ['/general/'] }],
    ['the token types', { token_types: ['card'] }],
    ['the event types', { event_types: ['token.updated', 'application.updated'] }],
  ] as const)(
    'does not get a waiting event that %s no longer include after a change',
    async ([, narrowed], { service, receiver }) => {
      const event_types = [...tokenEvents, 'application.created'];
      const { id } = await subscribe(service, receiver.url, { event_types });
      receiver.respond = (response) => response.writeHead(500).end();
      await create(service, 'one', { containers: ['/pci/high/'] });
      await service.service.webhooks.run();
      expect(told(receiver)).toEqual([['token.created', 'one']]);
      const other = await startReceiver();
      onTestFinished(other.close);
      await change(service, id, { url: other.url, event_types, ...narrowed });
      service.clock.advance(minute);
      await service.service.webhooks.run();
      expect(told(receiver)).toHaveLength(1);
      expect(told(other)).toEqual([]);
      expect((await service.vault.webhookStore.state(id))?.state).toMatchObject({ pending: [] });
    },
  );

  test('does not get a waiting event that its containers no longer include although the clock was set back before the change', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url, { containers: ['/pci/'] });
    receiver.respond = (response) => response.writeHead(500).end();
    service.clock.step(10 * minute);
    await create(service, 'one', { containers: ['/pci/high/'] });
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([['token.created', 'one']]);
    service.clock.step(-10 * minute);
    const other = await startReceiver();
    onTestFinished(other.close);
    await change(service, id, { url: other.url, containers: ['/general/'] });
    service.clock.advance(11 * minute);
    await service.service.webhooks.run();
    expect(told(other)).toEqual([]);
    expect((await service.vault.webhookStore.state(id))?.state).toMatchObject({ pending: [] });
  });

  test('gets a waiting event of a state that an older version stored, if its containers include the token', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url, { containers: ['/pci/'] });
    receiver.respond = (response) => response.writeHead(500).end();
    for (const token of ['inside', 'moved']) await create(service, token, { containers: ['/pci/high/'] });
    await service.service.webhooks.run();
    const stored = await service.vault.webhookStore.state(id);
    if (!stored?.state) throw new Error('no state is stored');
    const pending = stored.state.pending.map(({ passed: _, ...older }) => older);
    await service.vault.webhookStore.save(id, stored.version, { ...stored.state, pending }, []);
    await service.call('PATCH', '/tokens/moved', { containers: ['/general/'] });
    receiver.received.length = 0;
    receiver.respond = (response) => response.writeHead(204).end();
    service.clock.advance(minute);
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([['token.created', 'inside']]);
  });

  test('gets the waiting events that its filters include after a change, but only the end of a token that is gone', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url, { containers: ['/pci/'] });
    receiver.respond = (response) => response.writeHead(500).end();
    for (const token of ['living', 'gone', 'moved']) await create(service, token, { containers: ['/pci/high/'] });
    await service.service.webhooks.run();
    await service.call('DELETE', '/tokens/gone');
    await service.call('PATCH', '/tokens/moved', { containers: ['/general/'] });
    const other = await startReceiver();
    onTestFinished(other.close);
    await change(service, id, { url: other.url, containers: ['/pci/high/'] });
    service.clock.advance(minute);
    await service.service.webhooks.run();
    expect(sorted(told(other))).toEqual(['token.created,living', 'token.deleted,gone']);
  });

  test('gets the events of one token in order, even if all of them wait when the first delivery fails', async ({
    service,
    receiver,
  }) => {
    await subscribe(service, receiver.url);
    await create(service, 'one');
    await service.call('PATCH', '/tokens/one', { metadata: { a: 'b' } });
    receiver.respond = (response) => response.writeHead(500).end();
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([['token.created', 'one']]);
    receiver.respond = (response) => response.writeHead(204).end();
    service.clock.advance(minute);
    await service.service.webhooks.run();
    expect(told(receiver).slice(1)).toEqual([
      ['token.created', 'one'],
      ['token.updated', 'one'],
    ]);
  });

  test('that fails keeps at most about a hundred deliveries pending, and the other events wait in the log', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url);
    receiver.respond = (response) => response.writeHead(500).end();
    const ids = Array.from({ length: 150 }, (_, index) => `customer-${index}`);
    for (const some of [ids.slice(0, 75), ids.slice(75)]) {
      const body = some.map((one) => ({ id: one, type: 'token', data: 'x' }));
      expect((await service.call('POST', '/tokenize', body)).status).toBe(200);
    }
    await service.service.webhooks.run();
    const stored = await service.vault.webhookStore.state(id);
    expect(stored?.state?.pending.length).toBeGreaterThanOrEqual(100);
    expect(stored?.state?.pending.length).toBeLessThan(120);
    receiver.received.length = 0;
    receiver.respond = (response) => response.writeHead(204).end();
    service.clock.advance(minute);
    await service.service.webhooks.run();
    expect(sorted(told(receiver))).toEqual(sorted(ids.map((one) => ['token.created', one])));
  });

  test('gets the delivery under way when the service stops, and the stop waits until it is recorded', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url);
    await create(service, 'last');
    let respond = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      receiver.respond = (response) => {
        respond = () => response.writeHead(204).end();
        resolve();
      };
    });
    const deliveries = createWebhookDeliveries(service.vault, (error) => expect.unreachable(String(error)));
    deliveries.start();
    await arrived;
    const stopped = deliveries.stop().then(() => attemptsOf(service, id));
    respond();
    expect(await stopped).toHaveLength(1);
  });

  test('is told the id of a token that was due to expire while MongoDB rejected the user of the key store', async ({
    service,
    receiver,
  }) => {
    await subscribe(service, receiver.url, { event_types: ['token.expired'] });
    const { vault, clock } = service;
    await create(service, 'due', { expires_at: new Date(clock.now() + hour).toISOString() });
    clock.advance(2 * hour);
    const [row] = await vault.rows.due(clock.now(), 1);
    if (row === undefined) throw new Error('no token is due');
    // Every authentic read of the directory also reads revisions from the key store.
    const error = new MongoBroken('the user of mongodb.url or mongodb.keys_url lacks a permission in MongoDB.');
    const directory = { ...vault.directory, get: () => Promise.reject(error) };
    await expect(recordDue({ ...vault, directory }, row)).rejects.toBe(error);
    await recordDue(vault, row);
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([['token.expired', 'due']]);
  });

  test('can read the id of a deleted token for three days, and afterwards only its reference', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url, { containers: ['/general/'] });
    receiver.respond = (response) => response.writeHead(503).end();
    await create(service, 'gone', { containers: ['/general/'] });
    await service.service.webhooks.run();
    await service.call('DELETE', '/tokens/gone');
    const stored = async () => {
      const deleted = (await service.vault.log.readAll(0, 10_000)).find(({ type }) => type === 'token.deleted');
      const eventId = deleted?.id ?? '';
      return (await service.vault.webhookStore.sealedIds(id, [eventId])).get(eventId);
    };
    const sealed = await stored();
    expect(sealed?.length).toBeGreaterThan(20);
    expect(Buffer.from(sealed ?? []).toString('latin1')).not.toContain('gone');
    service.clock.advance(3 * day + hour);
    await service.service.webhooks.run();
    expect((await stored())?.length).toBe(0);
    receiver.respond = (response) => response.writeHead(204).end();
    for (let rounds = 0; rounds < 4; rounds += 1) {
      service.clock.advance(5 * hour);
      await service.service.webhooks.run();
    }
    const last = receiver.received.at(-1);
    expect(last?.body['type']).toBe('token.deleted');
    expect(last?.data['token_id']).toBeUndefined();
    expect(last?.data['entity_ref']).toMatch(/^[0-9a-f]{64}$/);
    expect(await stored()).toBeUndefined();
  });

  test('can read the id of a deleted token even if the clock was far ahead before the delivery', async ({
    service,
    receiver,
    skip,
  }) => {
    embeddedOnly({ skip }, 'a process of a cluster trusts MongoDB, see test/compose/cluster-clock.test.ts');
    await subscribe(service, receiver.url, { event_types: ['token.deleted'] });
    await create(service, 'gone');
    receiver.respond = (response) => response.writeHead(500).end();
    await service.call('DELETE', '/tokens/gone');
    await service.service.webhooks.run();
    service.clock.advance(hour);
    service.clock.step(20 * day);
    await service.service.webhooks.run();
    receiver.respond = (response) => response.writeHead(204).end();
    service.clock.step(-20 * day);
    await service.service.webhooks.run();
    expect(told(receiver).at(-1)).toEqual(['token.deleted', 'gone']);
  });

  test('is not notified about a delete that stopped after sealing the id, and that id is removed after three days', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url);
    await create(service, 'one');
    const sealedFor: string[] = [];
    const { webhookStore } = service.vault;
    // The delete request stores the sealed id, and then stops before it commits.
    const stopping = {
      ...service.vault,
      webhookStore: {
        ...webhookStore,
        async keepIds(ids: Parameters<typeof webhookStore.keepIds>[0]) {
          sealedFor.push(...ids.map(({ eventId }) => eventId));
          await webhookStore.keepIds(ids);
        },
      },
      work: { ...service.vault.work, commit: () => Promise.reject(new StoreUnavailable('event log', 'stopped')) },
    };
    const caller = await service.service.authenticate(service.key);
    if (caller === null) throw new Error('the service knows its key');
    await expect(deleteToken(stopping, { caller, traceId: 'trace' }, 'one', null)).rejects.toThrow(StoreUnavailable);
    const sizes = async () => [...(await webhookStore.sealedIds(id, sealedFor)).values()].map(({ length }) => length);
    expect(await sizes()).toEqual([expect.toSatisfy((length: number) => length > 20)]);
    expect((await service.call('GET', '/tokens/one')).status).toBe(200);
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([['token.created', 'one']]);

    expect((await service.call('DELETE', '/tokens/one')).status).toBe(204);
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([
      ['token.created', 'one'],
      ['token.deleted', 'one'],
    ]);
    service.clock.advance(3 * day);
    await service.service.webhooks.run();
    expect(await sizes()).toEqual([0]);
    expect(receiver.received).toHaveLength(2);
  });

  test('leaves no sealed id behind if it is deleted during a token’s delete, even if the tenant has no other webhook', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url);
    await service.service.webhooks.run();
    await service.call('DELETE', `/webhooks/${id}`, undefined, { key: service.managementKey });
    const { webhookStore } = service.vault;
    const eventId = service.vault.random.uuid();
    // The delete request for the token read the webhook before the webhook was deleted. It therefore stores a sealed id
    // that belongs to no webhook.
    await webhookStore.keepIds([{ webhookId: id, eventId, sealed: Buffer.alloc(40, 1), at: service.clock.now() }]);
    service.clock.advance(3 * day);
    await service.service.webhooks.run();
    expect((await webhookStore.sealedIds(id, [eventId])).get(eventId)?.length).toBe(0);
  });

  test('signs with up to three secrets while they overlap, and then only with the newest', async ({
    service,
    receiver,
  }) => {
    const { id, secret: old } = await subscribe(service, receiver.url);
    const rotate = async () => {
      const as = { key: service.managementKey };
      const rotated = await service.call('POST', `/webhooks/${id}/secret`, { overlap_seconds: 3_600 }, as);
      return String(rotated.body['secret']);
    };
    const renewed = await rotate();
    expect(renewed).not.toBe(old);
    const accepts = (secret: string): boolean => {
      const last = receiver.received.at(-1);
      if (last === undefined) throw new Error('nothing was received');
      const { text, headers } = last;
      const at = Number(headers['webhook-timestamp']) * 1_000;
      const signature = new Webhook(secret).sign(headers['webhook-id'] ?? '', new Date(at), text);
      return (headers['webhook-signature'] ?? '').split(' ').includes(signature);
    };
    await create(service, 'one');
    await service.service.webhooks.run();
    expect([accepts(old), accepts(renewed)]).toEqual([true, true]);
    const [third, fourth] = [await rotate(), await rotate()];
    await create(service, 'two');
    await service.service.webhooks.run();
    expect([old, renewed, third, fourth].map(accepts)).toEqual([false, true, true, true]);
    service.clock.advance(hour + minute);
    await create(service, 'three');
    await service.service.webhooks.run();
    expect([old, renewed, third, fourth].map(accepts)).toEqual([false, false, false, true]);
  });

  test.for(['disabled', 'deleted', 'moved'])(
    'that is %s during a backlog gets only the batch under way',
    async (how, { service, receiver }) => {
      const { id } = await subscribe(service, receiver.url);
      for (let n = 0; n < 100; n += 1) await create(service, `old-${n}`);
      const url = how === 'moved' ? `${receiver.url}/2` : receiver.url;
      const body = { url, event_types: tokenEvents, enabled: how === 'moved' };
      const method = how === 'deleted' ? 'DELETE' : 'PUT';
      let change: Promise<{ readonly status: number }> | null = null;
      receiver.respond = (response) => {
        change ??= service.call(method, `/webhooks/${id}`, how === 'deleted' ? undefined : body, {
          key: service.managementKey,
        });
        void change.then(() => response.writeHead(204).end());
      };
      await service.service.webhooks.run();
      expect(await change).toMatchObject({ status: how === 'deleted' ? 204 : 200 });
      expect(receiver.received.length).toBe(16);
      await service.service.webhooks.run();
      expect(new Set(receiver.received.map(({ data }) => data['entity_ref'])).size).toBe(how === 'moved' ? 100 : 16);
      expect(service.errors).toEqual([]);
    },
  );

  test('that is disabled gets everything when it is enabled again, and gets nothing after it is deleted', async ({
    service,
    receiver,
  }) => {
    const as = { key: service.managementKey };
    const { id } = await subscribe(service, receiver.url, { enabled: false });
    await create(service, 'one');
    await service.service.webhooks.run();
    expect(receiver.received).toEqual([]);
    const body = { url: receiver.url, event_types: tokenEvents, enabled: true };
    expect((await service.call('PUT', `/webhooks/${id}`, body, as)).status).toBe(200);
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([['token.created', 'one']]);
    expect((await service.call('DELETE', `/webhooks/${id}`, undefined, as)).status).toBe(204);
    await create(service, 'two');
    await service.service.webhooks.run();
    expect(receiver.received).toHaveLength(1);
    expect(await service.vault.webhookStore.state(id)).toBeNull();
  });

  test('gets nothing after it is deleted, even if the running job has not noticed the deletion yet', async ({
    service,
    receiver,
  }) => {
    const { vault } = service;
    const other = await startReceiver();
    onTestFinished(() => other.close());
    const { id } = await subscribe(service, receiver.url);
    await subscribe(service, other.url);
    await create(service, 'one');
    const tenants = await vault.directory.list('tenant');
    const directory = { ...vault.directory, list: async () => tenants };
    const errors: unknown[] = [];
    const deliveries = createWebhookDeliveries({ ...vault, directory }, (error) => errors.push(error));
    deliveries.start();
    try {
      await expect.poll(() => [receiver.received.length, other.received.length]).toEqual([1, 1]);
      await service.call('DELETE', `/webhooks/${id}`, undefined, { key: service.managementKey });
      // Each of these deliveries shows that a round has begun for both webhooks since the deletion.
      for (const [index, token] of ['two', 'three', 'four'].entries()) {
        await create(service, token);
        await expect.poll(() => other.received.length).toBe(index + 2);
      }
    } finally {
      await deliveries.stop();
    }
    expect(told(receiver)).toEqual([['token.created', 'one']]);
    expect(await vault.webhookStore.state(id)).toBeNull();
    expect(errors).toEqual([]);
  });

  test.for(['event', 'denial'] as const)(
    'receives each %s only once while the state cannot be stored',
    async (kind, { service, receiver }) => {
      const { id } = await subscribe(service, receiver.url, { event_types: ['token.created', 'access.denied'] });
      await service.service.webhooks.run();
      const { vault } = service;
      let failures = 5;
      const save: typeof vault.webhookStore.save = async (...given) => {
        if (failures === 0) return vault.webhookStore.save(...given);
        failures -= 1;
        throw new StoreUnavailable('webhooks', 'full');
      };
      const errors: unknown[] = [];
      const webhookStore = { ...vault.webhookStore, save };
      const deliveries = createWebhookDeliveries({ ...vault, webhookStore }, (error) => void errors.push(error));
      const key = await service.application(['token:read']);
      const make = {
        event: () => service.call('POST', '/tokens', { id: 'once', type: 'token', data: 'x' }),
        denial: () => service.call('DELETE', '/tokens/customer-1', undefined, { key }),
      };
      await make[kind]();
      await vault.recorder.now([]);
      while (failures > 0) await deliveries.run();
      expect(errors).toHaveLength(5);
      await service.call('POST', '/tokens', { id: 'next', type: 'token', data: 'x' });
      await deliveries.run();
      await service.service.webhooks.run();
      expect(told(receiver)).toEqual([
        kind === 'event' ? ['token.created', 'once'] : ['access.denied', undefined],
        ['token.created', 'next'],
      ]);
      expect(await attemptsOf(service, id)).toHaveLength(2);
    },
  );

  test('leaves no state behind if it is deleted while its first state is saved', async ({ service, receiver }) => {
    const { vault, managementKey: key } = service;
    const { id } = await subscribe(service, receiver.url);
    await create(service, 'one');
    const save: typeof vault.webhookStore.save = async (...given) => {
      expect((await service.call('DELETE', `/webhooks/${id}`, undefined, { key })).status).toBe(204);
      return vault.webhookStore.save(...given);
    };
    const webhookStore = { ...vault.webhookStore, save };
    const deliveries = createWebhookDeliveries({ ...vault, webhookStore }, (error) =>
      expect.unreachable(String(error)),
    );
    await deliveries.run();
    expect(told(receiver)).toEqual([]);
    expect(await vault.webhookStore.state(id)).toBeNull();
  });

  test('that continues after a long time keeps only a few pages of the log in memory', async ({
    service,
    receiver,
  }) => {
    const { vault, tenantId } = service;
    const { id } = await subscribe(service, receiver.url);
    const head = await vault.log.head();
    const [event] = await vault.log.readClear(0, 1);
    if (event === undefined) throw new Error('the log is empty');
    const end = head + 40 * 500;
    const pages: WeakRef<readonly unknown[]>[] = [];
    let kept = 0;
    const readClear = async (after: number, limit: number) => {
      const size = Math.max(0, Math.min(limit, end - Math.max(after, head)));
      const page = Array.from({ length: size }, (_, i) => ({
        ...event,
        tenantId: 'another',
        position: Math.max(after, head) + 1 + i,
      }));
      pages.push(new WeakRef(page));
      if (size > 0) return page;
      // A weak reference keeps its object until the current turn of the event loop ends.
      await new Promise(setImmediate);
      setFlagsFromString('--expose-gc');
      runInNewContext('gc')();
      kept = pages.filter((one) => one.deref() !== undefined).length;
      return page;
    };
    const fail = (error: unknown) => expect.unreachable(String(error));
    const deliveries = createWebhookDeliveries({ ...vault, log: { ...vault.log, readClear } }, fail);
    await deliveries.deliver(tenantId, id);
    expect(pages).toHaveLength(41);
    expect(kept).toBeLessThan(12);
  });

  test('that receives a test delivery then gets all waiting deliveries immediately', async ({ service, receiver }) => {
    const { id } = await subscribe(service, receiver.url);
    receiver.respond = (response) => response.writeHead(500).end();
    await create(service, 'one');
    await service.service.webhooks.run();
    receiver.respond = (response) => response.writeHead(204).end();
    const tested = await service.call('POST', `/webhooks/${id}/test`, undefined, { key: service.managementKey });
    expect(tested.body).toMatchObject({ event_type: 'webhook.test', outcome: 'delivered', response_status: 204 });
    await service.service.webhooks.run();
    expect(told(receiver).at(-1)).toEqual(['token.created', 'one']);
  });

  test('that receives a test delivery then gets the waiting denials immediately', async ({ service, receiver }) => {
    const reader = await service.application(['token:read']);
    const { id } = await subscribe(service, receiver.url, { event_types: ['access.denied'] });
    await create(service, 'customer-1');
    await service.call('DELETE', '/tokens/customer-1', undefined, { key: reader });
    await service.vault.recorder.now([]);
    receiver.respond = (response) => response.writeHead(500).end();
    await service.service.webhooks.run();
    await service.service.webhooks.run();
    expect(receiver.received.map(({ body }) => body['type'])).toEqual(['access.denied']);
    receiver.respond = (response) => response.writeHead(204).end();
    await service.call('POST', `/webhooks/${id}/test`, undefined, { key: service.managementKey });
    await service.service.webhooks.run();
    const types = receiver.received.map(({ body }) => body['type']);
    expect(types).toEqual(['access.denied', 'webhook.test', 'access.denied']);
  });

  test('that receives a test delivery then gets all waiting deliveries, even if its state was just changed', async ({
    service,
    receiver,
  }) => {
    const { vault } = service;
    const { id } = await subscribe(service, receiver.url);
    receiver.respond = (response) => response.writeHead(500).end();
    await create(service, 'one');
    await service.service.webhooks.run();
    receiver.respond = (response) => response.writeHead(204).end();
    let isFirst = true;
    const webhookStore = {
      ...vault.webhookStore,
      /** After the first read, another process changes the state. */
      async state(webhookId: string) {
        const stored = await vault.webhookStore.state(webhookId);
        if (isFirst && stored?.state) await vault.webhookStore.save(webhookId, stored.version, stored.state, []);
        isFirst = false;
        return stored;
      },
    };
    const webhook = await findWebhook(vault, service.tenantId, id);
    if (webhook === null) throw new Error('the webhook was created above');
    await sendTestEvent({ ...vault, webhookStore }, service.tenantId, webhook);
    expect(isFirst).toBe(false);
    await service.service.webhooks.run();
    expect(told(receiver).at(-1)).toEqual(['token.created', 'one']);
  });

  test('with a waiting delivery whose event is missing reports and drops the delivery', async ({
    service,
    receiver,
  }) => {
    const { webhookStore } = service.vault;
    const { id } = await subscribe(service, receiver.url);
    await service.service.webhooks.run();
    const missing = { position: 1, stream: `token-${'0'.repeat(64)}`, revision: 0, attempts: 1, nextAt: 0 };
    const stored = await webhookStore.state(id);
    const before = { ...(stored?.state ?? stateFrom(0)), pending: [missing] };
    await webhookStore.save(id, stored?.version ?? 0, before, []);
    await service.service.webhooks.run();
    const message = `webhook ${id} waited for event 0 of ${missing.stream}, which is missing in the log`;
    expect(service.errors).toEqual([new Error(message)]);
    expect((await webhookStore.state(id))?.state).toEqual({ ...before, pending: [] });
  });
});

describe('an event that cannot be read', () => {
  /** Returns deliveries whose log throws the error when it reads the streams of these tokens. `repair` ends this. */
  async function deliveriesWithout(service: TestService, ids: readonly string[], error: Error) {
    const { vault, errors } = service;
    const damaged = await Promise.all(ids.map((id) => streamOf(service, id)));
    let isDamaged = true;
    const readFrom: typeof vault.log.readFrom = async (stream, ...range) => {
      if (isDamaged && damaged.includes(stream)) throw error;
      return vault.log.readFrom(stream, ...range);
    };
    const log = { ...vault.log, readFrom };
    const deliveries = createWebhookDeliveries({ ...vault, log }, (found) => void errors.push(found));
    onTestFinished(() => deliveries.stop());
    const repair = () => {
      isDamaged = false;
    };
    return { deliveries, repair };
  }

  const ids = (receiver: Receiver) => told(receiver).map(([, id]) => id);

  test('is read again after a minute, while each of the other events is delivered once', async ({
    service,
    receiver,
  }) => {
    await subscribe(service, receiver.url);
    for (const id of ['before', 'forged', 'after']) await create(service, id);
    await service.call('PATCH', '/tokens/forged', { metadata: { a: 'b' } });
    const error = new ForgedLog('an event is missing');
    const { deliveries, repair } = await deliveriesWithout(service, ['forged'], error);
    await deliveries.run();
    await create(service, 'later');
    for (let round = 0; round < 3; round += 1) await deliveries.run();
    expect(ids(receiver).sort()).toEqual(['after', 'before', 'later']);
    expect(service.errors).toEqual([error]);
    service.clock.advance(minute);
    await deliveries.run();
    expect(service.errors).toEqual([error, error]);
    repair();
    service.clock.advance(minute);
    await deliveries.run();
    expect(told(receiver).slice(3)).toEqual([
      ['token.created', 'forged'],
      ['token.updated', 'forged'],
    ]);
  });

  test('does not stop the deliveries for other tokens, even if many events cannot be read', async ({
    service,
    receiver,
  }) => {
    await subscribe(service, receiver.url);
    const forged = Array.from({ length: 60 }, (_, index) => `forged-${index}`);
    for (const id of [...forged, 'after']) await create(service, id);
    const { deliveries } = await deliveriesWithout(service, forged, new ForgedLog('an event is missing'));
    for (let round = 0; round < 20; round += 1) {
      await deliveries.run();
      // The longest wait after a failure.
      service.clock.advance(10_000);
    }
    expect(ids(receiver)).toEqual(['after']);
  });

  test('but is already waiting does not stop the other deliveries', async ({ service, receiver }) => {
    await subscribe(service, receiver.url);
    for (const id of ['forged', 'other']) await create(service, id);
    receiver.respond = (response) => response.writeHead(500).end();
    const { vault, errors } = service;
    const forged = await streamOf(service, 'forged');
    let isForged = false;
    const error = new ForgedLog('an event was changed');
    const readClearFrom: typeof vault.log.readClearFrom = async (stream, ...range) => {
      if (isForged && stream === forged) throw error;
      return vault.log.readClearFrom(stream, ...range);
    };
    const log = { ...vault.log, readClearFrom };
    const deliveries = createWebhookDeliveries({ ...vault, log }, (found) => void errors.push(found));
    onTestFinished(() => deliveries.stop());
    await deliveries.run();
    receiver.received.length = 0;
    receiver.respond = (response) => response.writeHead(204).end();
    isForged = true;
    await create(service, 'later');
    service.clock.advance(minute);
    for (let round = 0; round < 3; round += 1) await deliveries.run();
    expect(ids(receiver).sort()).toEqual(['later', 'other']);
    expect(errors).toEqual([error]);
    isForged = false;
    service.clock.advance(minute);
    await deliveries.run();
    expect(ids(receiver).slice(2)).toEqual(['forged']);
  });

  test('because a store is unavailable is delivered as soon as the store is back', async ({ service, receiver }) => {
    await subscribe(service, receiver.url);
    for (const id of ['before', 'waiting', 'after']) await create(service, id);
    const error = new StoreUnavailable('keys', 'no_answer');
    const { deliveries, repair } = await deliveriesWithout(service, ['waiting'], error);
    for (let round = 0; round < 3; round += 1) await deliveries.run();
    expect(ids(receiver).sort()).toEqual(['after', 'before']);
    repair();
    await deliveries.run();
    expect(ids(receiver).slice(2)).toEqual(['waiting']);
  });

  test('because the token is changed at that moment is delivered by the containers that the token has then', async ({
    service,
    receiver,
  }) => {
    const { vault, errors } = service;
    await subscribe(service, receiver.url, { containers: ['/pci/'] });
    await create(service, 'busy', { containers: ['/pci/'] });
    const stream = await streamOf(service, 'busy');
    let isFirst = true;
    const readFrom: typeof vault.log.readFrom = async (...asked) => {
      const events = await vault.log.readFrom(...asked);
      const isChanging = isFirst && asked[0] === stream;
      if (isChanging) isFirst = false;
      if (isChanging) await service.call('PATCH', '/tokens/busy', { data: 'other-data' });
      return events;
    };
    const deliveries = createWebhookDeliveries({ ...vault, log: { ...vault.log, readFrom } }, (error) => {
      errors.push(error);
    });
    onTestFinished(() => deliveries.stop());
    await deliveries.run();
    await deliveries.run();
    expect(told(receiver)).toEqual([
      ['token.created', 'busy'],
      ['token.updated', 'busy'],
    ]);
    expect(errors).toEqual([]);
  });

  test('passes the filters of the webhook when it can be read again', async ({ service, receiver }) => {
    await subscribe(service, receiver.url, { token_types: ['card'] });
    await create(service, 'filtered');
    const { deliveries, repair } = await deliveriesWithout(service, ['filtered'], new ForgedLog('an event is missing'));
    await deliveries.run();
    repair();
    service.clock.advance(minute);
    await deliveries.run();
    expect(receiver.received).toEqual([]);
    expect(service.errors).toHaveLength(1);
  });
});

describe('deliveries that fail', () => {
  test('of one webhook wait before they are tried again, and do not stop those of the others', async ({
    service,
    receiver,
  }) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { vault, tenantId } = service;
    const [failing, other] = [await subscribe(service, receiver.url), await subscribe(service, receiver.url)];
    const state: typeof vault.webhookStore.state = async (id) => {
      if (id === failing.id) throw new Error('the state cannot be read');
      return vault.webhookStore.state(id);
    };
    const errors: unknown[] = [];
    const webhookStore = { ...vault.webhookStore, state };
    const deliveries = createWebhookDeliveries({ ...vault, webhookStore }, (error) => void errors.push(error));
    onTestFinished(() => deliveries.stop());
    const deliver = async () => {
      for (const { id } of [failing, failing, other]) await deliveries.deliver(tenantId, id);
    };
    await create(service, 'one');
    await deliver();
    expect(told(receiver)).toEqual([['token.created', 'one']]);
    expect(errors).toHaveLength(1);
    for (const [ms, failures] of [
      [1_000, 2],
      [1_000, 2],
      [1_000, 3],
      [10_000, 4],
    ] as const) {
      vi.advanceTimersByTime(ms);
      await deliver();
      expect(errors).toHaveLength(failures);
    }
  });

  test('because the tenants cannot be read are not tried again in each poll', async ({ service }) => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { vault } = service;
    const directory: typeof vault.directory = {
      ...vault.directory,
      check: () => Promise.reject(new Error('the tenants cannot be read')),
    };
    const errors: unknown[] = [];
    const deliveries = createWebhookDeliveries({ ...vault, directory }, (error) => void errors.push(error));
    deliveries.start();
    await vi.advanceTimersByTimeAsync(6_000);
    await deliveries.stop();
    expect(errors).toHaveLength(3);
  });

  test('because old ids cannot be removed continue in the next round', async ({ service, receiver }) => {
    const { vault } = service;
    await subscribe(service, receiver.url);
    await create(service, 'one');
    let calls = 0;
    const forgetIds = async () => {
      calls += 1;
      throw new Error('the ids cannot be removed');
    };
    const webhookStore = { ...vault.webhookStore, forgetIds };
    const deliveries = createWebhookDeliveries({ ...vault, webhookStore }, (error) =>
      expect.unreachable(String(error)),
    );
    onTestFinished(() => deliveries.stop());
    await expect(deliveries.run()).rejects.toThrow('the ids cannot be removed');
    for (let round = 0; round < 3; round += 1) await deliveries.run();
    expect(told(receiver)).toEqual([['token.created', 'one']]);
    expect(calls).toBe(1);
    service.clock.advance(minute);
    await expect(deliveries.run()).rejects.toThrow('the ids cannot be removed');
  });
});

describe('a webhook state that the vault did not write', () => {
  test('does not prevent a delivery: the webhook starts anew, and the failure is reported', async ({
    service,
    receiver,
  }) => {
    const attacker = await rowsAttacker(service);
    onTestFinished(() => attacker.close());
    const { id } = await subscribe(service, receiver.url);
    await create(service, 'one');
    await service.service.webhooks.run();
    const { version, text } = await attacker.webhookState(id);
    const [mac, json] = [text.slice(0, text.indexOf('.')), text.slice(text.indexOf('.') + 1)];
    const forward = JSON.stringify({ ...JSON.parse(json), position: 1_000_000 });
    const other = await subscribe(service, receiver.url, { event_types: ['token.deleted'] });
    await service.service.webhooks.run();
    const ofOther = await attacker.webhookState(other.id);
    const newer = { version: version + 1, text };
    for (const forged of [{ version, text: `${mac}.${forward}` }, { version, text: forward }, ofOther, newer]) {
      await attacker.setWebhookState(id, forged);
      expect(await attemptsOf(service, id)).toEqual([]);
      expect(await webhooks(service.vault, null)).toMatchObject({
        state: 'problem',
        says: expect.stringContaining('its state was changed outside the vault'),
      });
    }
    await create(service, 'two');
    service.errors.length = 0;
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([
      ['token.created', 'one'],
      ['token.created', 'one'],
      ['token.created', 'two'],
    ]);
    expect(service.errors).toEqual([new ForgedWebhookState(id)]);
    await service.service.webhooks.run();
    expect(receiver.received).toHaveLength(3);
  });

  test('is counted as a failure each time, even if the log has just named another one', async ({
    service,
    receiver,
  }) => {
    const attacker = await rowsAttacker(service);
    onTestFinished(() => attacker.close());
    const [one, other] = [await subscribe(service, receiver.url), await subscribe(service, receiver.url)];
    await service.service.webhooks.run();
    for (const { id } of [one, other]) {
      const { version } = await attacker.webhookState(id);
      await attacker.setWebhookState(id, { version, text: 'forged' });
    }
    await service.service.webhooks.run();
    const { text } = await service.service.metrics.render(await service.service.state());
    expect(text).toContain('strongroom_background_failures_total 2\n');
  });
});

describe('a replay', () => {
  test('delivers the events since a given time again with the same event ids, and with references for tokens that are gone', async ({
    service,
    receiver,
  }) => {
    const { id } = await subscribe(service, receiver.url);
    await create(service, 'old');
    service.clock.advance(hour);
    const from = service.clock.now();
    await create(service, 'kept');
    await create(service, 'ended');
    await service.call('DELETE', '/tokens/ended');
    await service.service.webhooks.run();
    const first = receiver.received.splice(0);
    await replayDeliveries(service.vault, id, from);
    await service.service.webhooks.run();
    // Only deliveries about the same token are ordered.
    const of = (id: string | undefined) => told(receiver).filter(([, tokenId]) => tokenId === id);
    expect(of('kept')).toEqual([['token.created', 'kept']]);
    expect(of(undefined)).toEqual([
      ['token.created', undefined],
      ['token.deleted', undefined],
    ]);
    expect(receiver.received).toHaveLength(3);
    const idsAndRefs = (all: Receiver['received']) =>
      all.map(({ headers, data }) => [headers['webhook-id'], data['entity_ref']]).sort();
    const old = first.find(({ data }) => data['token_id'] === 'old');
    expect(old).toBeDefined();
    expect(idsAndRefs(receiver.received)).toEqual(idsAndRefs(first.filter((delivery) => delivery !== old)));
  });

  test('does not skip older events that the webhook has not received yet', async ({ service, receiver }) => {
    const { id } = await subscribe(service, receiver.url);
    await create(service, 'received');
    await service.service.webhooks.run();
    await enable(service, receiver, id, false);
    await create(service, 'waits');
    service.clock.advance(hour);
    expect(await replayDeliveries(service.vault, id, service.clock.now())).toEqual({ ok: true });
    await create(service, 'later');
    expect(await replayDeliveries(service.vault, id, service.clock.now())).toEqual({ ok: true });
    await enable(service, receiver, id, true);
    receiver.received.splice(0);
    await service.service.webhooks.run();
    expect(createdIds(receiver)).toEqual(['later', 'waits']);
  });

  test('does not skip new events after the clock was set back', async ({ service, receiver }) => {
    const { id } = await subscribe(service, receiver.url);
    await create(service, 'received');
    await service.service.webhooks.run();
    service.clock.advance(hour);
    expect(await replayDeliveries(service.vault, id, service.clock.now())).toEqual({ ok: true });
    await service.service.webhooks.run();
    service.clock.advance(-10 * minute);
    await create(service, 'later');
    await service.service.webhooks.run();
    expect(createdIds(receiver)).toEqual(['later', 'received']);
  });

  for (const [what, makeState] of [
    ['before the first delivery', (service, id) => replayDeliveries(service.vault, id, service.clock.now())],
    [
      'that an older version began',
      async ({ vault, clock }, id) => {
        await vault.webhookStore.save(id, 0, { ...stateFrom(0), replaysFrom: clock.now() }, []);
      },
    ],
  ] satisfies [string, (service: TestService, id: string) => Promise<unknown>][]) {
    test(`${what} skips only older events from before the webhook was created`, async ({ service, receiver }) => {
      await create(service, 'before-it-existed');
      const { id } = await subscribe(service, receiver.url, { enabled: false });
      await create(service, 'waits');
      service.clock.advance(hour);
      await makeState(service, id);
      await enable(service, receiver, id, true);
      await service.service.webhooks.run();
      expect(createdIds(receiver)).toEqual(['waits']);
      await service.service.webhooks.run();
      expect(receiver.received).toHaveLength(1);
    });
  }
});

test('a webhook is reported as far behind because of the commits after its position, not because of the positions', async ({
  service,
  receiver,
}) => {
  const { id } = await subscribe(service, receiver.url);
  await service.service.webhooks.run();
  const position = (await service.vault.webhookStore.state(id))?.state?.position ?? 0;
  const says = async (commits: number) => {
    const hash = new Uint8Array(32);
    const head: TestService['vault']['chain']['head'] = async (upTo) =>
      upTo === undefined ? { position: position + 50_000_000, count: commits, hash } : { position, count: 10, hash };
    return (await webhooks({ ...service.vault, chain: { ...service.vault.chain, head } }, null)).says;
  };
  expect(await says(20_009)).toBe('no problem with the deliveries of 1 webhook');
  expect(await says(20_010)).toBe(`${id} of tenant ${service.tenantId} (at least 20,000 events behind the log)`);
});

test('a parked delivery is no longer reported as parked once a replay has delivered it', async ({
  service,
  receiver,
}) => {
  const { id } = await subscribe(service, receiver.url, { event_types: ['token.created'] });
  const beganAt = service.clock.now();
  for (const name of ['one', 'two']) await create(service, name);
  receiver.respond = (response) => response.writeHead(500).end();
  const replay = async () => {
    expect(await replayDeliveries(service.vault, id, beganAt)).toEqual({ ok: true });
    for (let tries = 0; tries < 26; tries += 1) {
      await service.service.webhooks.run();
      service.clock.advance(4 * hour);
    }
  };
  const parked = () => attemptsOf(service, id, '&outcome=parked');
  await replay();
  expect(await parked()).toHaveLength(2);
  await replay();
  expect(await parked(), 'one for each event, although each was parked twice').toHaveLength(2);
  const last = async () => (await attemptsOf(service, id)).filter(({ attempt }) => attempt === 26);
  expect((await last()).map(({ outcome }) => outcome)).toEqual(['parked', 'parked', 'failed', 'failed']);
  expect(await webhooks(service.vault, null)).toMatchObject({ state: 'problem' });

  receiver.respond = (response) => response.writeHead(204).end();
  expect(await replayDeliveries(service.vault, id, beganAt)).toEqual({ ok: true });
  await service.service.webhooks.run();
  expect(await parked()).toEqual([]);
  expect((await last()).map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed', 'failed']);
  expect((await attemptsOf(service, id, '&outcome=delivered')).map(({ attempt }) => attempt)).toEqual([1, 1]);
  expect(await webhooks(service.vault, null)).toMatchObject({ state: 'ok' });
});

describe('a replay that begins during an attempt', () => {
  test('does not remove the attempt from the deliveries', async ({ service, receiver }) => {
    const { id } = await subscribe(service, receiver.url);
    await create(service, 'customer-1');
    let isFirst = true;
    receiver.respond = async (response) => {
      if (isFirst) await replayDeliveries(service.vault, id, 0);
      response.writeHead(isFirst ? 500 : 204).end();
      isFirst = false;
    };
    await service.service.webhooks.run();
    await service.service.webhooks.run();
    const outcomes = (await attemptsOf(service, id)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['delivered', 'failed']);
    expect(receiver.received).toHaveLength(2);
  });

  test('does not remove the attempt to report a denial', async ({ service, receiver }) => {
    const reader = await service.application(['token:read']);
    const { id } = await subscribe(service, receiver.url, { event_types: ['access.denied'] });
    await create(service, 'customer-1');
    await service.call('DELETE', '/tokens/customer-1', undefined, { key: reader });
    await service.vault.recorder.now([]);
    receiver.respond = async (response) => {
      await replayDeliveries(service.vault, id, 0);
      response.writeHead(500).end();
    };
    await service.service.webhooks.run();
    expect((await attemptsOf(service, id)).map(({ outcome }) => outcome)).toEqual(['failed']);
  });

  test('does not record the last attempt as given up, because the replay repeats it', async ({ service, receiver }) => {
    const { id } = await subscribe(service, receiver.url);
    await create(service, 'customer-1');
    receiver.respond = (response) => response.writeHead(500).end();
    await service.service.webhooks.run();
    const { webhookStore } = service.vault;
    const stored = await webhookStore.state(id);
    if (!stored?.state) throw new Error('the webhook has a state');
    const pending = stored.state.pending.map((one) => ({ ...one, attempts: 25, nextAt: 0 }));
    await webhookStore.save(id, stored.version, { ...stored.state, pending }, []);
    receiver.respond = async (response) => {
      await replayDeliveries(service.vault, id, 0);
      response.writeHead(500).end();
    };
    await service.service.webhooks.run();
    expect(await attemptsOf(service, id, '&outcome=parked')).toEqual([]);
    expect(await attemptsOf(service, id)).toMatchObject([{ attempt: 26, outcome: 'failed' }, { attempt: 1 }]);
  });
});

describe('a receiver does not affect other receivers if it', () => {
  const bad: Readonly<Record<string, Receiver['respond']>> = {
    'never responds': () => undefined,
    'responds slowly': (response) => void response.writeHead(200).write('x'),
    redirects: (response, _, request) =>
      response.writeHead(307, { location: `http://${request.headers.host}/elsewhere` }).end(),
    'sends megabytes': (response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(1024 * 1024);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    },
  };
  for (const [what, respond] of Object.entries(bad)) {
    test(what, async ({ receiver }) => {
      // Only a receiver that never responds must reach the limit. On a busy machine, others could exceed a short limit.
      const service = await startSendingService(what === 'never responds' ? 1_000 : undefined);
      onTestFinished(() => service.close());
      const good = await startReceiver();
      try {
        receiver.respond = respond;
        const { id } = await subscribe(service, receiver.url);
        await subscribe(service, good.url);
        for (let count = 0; count < 20; count += 1) await create(service, `customer-${count}`);
        const arrived = new Promise<void>((resolve) => {
          good.respond = (response) => {
            response.writeHead(204).end();
            if (good.received.length === 20) resolve();
          };
        });
        const round = service.service.webhooks.run();
        await arrived;
        // The service continues to serve callers while it waits for the other receiver.
        expect((await create(service, 'meanwhile')).status).toBe(201);
        await round;
        const attempts = await attemptsOf(service, id);
        const isFailure = what === 'never responds' || what === 'redirects';
        expect(attempts.length).toBeGreaterThan(0);
        for (const attempt of attempts) expect(attempt['outcome']).toBe(isFailure ? 'failed' : 'delivered');
        if (what === 'redirects') expect(receiver.received.length).toBe(attempts.length);
      } finally {
        await good.close();
      }
    });
  }
});

describe('an unfinished creation of tokens', () => {
  test('holds up later events for at most five minutes, even if further creations follow', async ({
    service,
    receiver,
  }) => {
    const { vault, clock } = service;
    const pending = new Set<string>();
    const fail = (error: unknown) => expect.unreachable(String(error));
    const deliveries = createWebhookDeliveries(vault, fail, { pendingStreams: async () => pending });
    await subscribe(service, receiver.url);
    await create(service, 'before');
    for (const id of ['stuck', 'stuck-later']) {
      await create(service, id);
      pending.add(await streamOf(service, id));
      await deliveries.run();
      clock.advance(4 * minute);
    }
    await create(service, 'other');
    expect(told(receiver)).toEqual([['token.created', 'before']]);
    clock.advance(minute);
    await deliveries.run();
    const all = ['before', 'stuck', 'stuck-later', 'other'];
    expect(sorted(told(receiver))).toEqual(sorted(all.map((id) => ['token.created', id])));
  });

  test('that was undone is not announced, neither as a creation nor as a deletion', async ({ service, receiver }) => {
    const { vault, tenantId, clock } = service;
    await subscribe(service, receiver.url);
    await create(service, 'undone');
    const stream = await streamOf(service, 'undone');
    const undone = { type: 'token.deleted', tenantId, time: clock.now(), clear: { reason: 'undone', ends: [] } };
    // Another process can bar an earlier append between the creation and its deletion.
    const fence = { type: 'token.fenced', tenantId, time: clock.now() };
    for (const [revision, event] of [fence, undone].entries()) {
      expect((await vault.log.append(stream, revision, [anEvent(event)])).outcome).toBe('appended');
    }
    await create(service, 'other');
    await service.service.webhooks.run();
    expect(told(receiver)).toEqual([['token.created', 'other']]);
  });

  test('does not hold up later events of a token whose creation was delivered', async ({ service, receiver }) => {
    const pending = new Set<string>();
    const fail = (error: unknown) => expect.unreachable(String(error));
    const deliveries = createWebhookDeliveries(service.vault, fail, { pendingStreams: async () => pending });
    await subscribe(service, receiver.url);
    await create(service, 'one');
    await deliveries.run();
    // An attacker who can write the rows reopens the batch that created the token.
    pending.add(await streamOf(service, 'one'));
    await service.call('PATCH', '/tokens/one', { metadata: { note: 'changed' } });
    await create(service, 'two');
    await deliveries.run();
    expect(sorted(told(receiver))).toEqual(
      sorted([
        ['token.created', 'one'],
        ['token.updated', 'one'],
        ['token.created', 'two'],
      ]),
    );
  });
});

describe('a damaged tenant', () => {
  test('does not stop the webhooks of other tenants, and its own continue after the repair', async ({
    service,
    receiver,
  }) => {
    const paused = await startReceiver();
    onTestFinished(paused.close);
    await subscribe(service, receiver.url);
    const access = { kind: 'rules', rules: [rule('/', 'reveal', ['token:create'])] } as const;
    const other = await createTenant(service.vault, 'other', [{ name: 'a', type: 'private', access, expiresAt: null }]);
    const [key, managementKey] = [other.keys[0]?.reveal() ?? '', other.managementKey.reveal()];
    const body = { url: paused.url, event_types: tokenEvents };
    expect((await service.call('POST', '/webhooks', body, { key: managementKey })).status).toBe(201);
    const createTheirs = (id: string) => service.call('POST', '/tokens', { id, type: 'token', data: 'x' }, { key });
    const deliveries = createWebhookDeliveries(service.vault, (error) => void service.errors.push(error));
    await createTheirs('before');
    await deliveries.run();
    expect(told(paused)).toEqual([['token.created', 'before']]);
    await createTheirs('theirs');
    const attacker = await rowsAttacker(service);
    const row = await attacker.takeRecord('tenant', other.tenantId);
    await attacker.editRecord('tenant', other.tenantId, { mac: Buffer.alloc(32) });
    await create(service, 'ours');
    await deliveries.run();
    await deliveries.run();
    expect(told(receiver)).toEqual([['token.created', 'ours']]);
    expect(told(paused)).toHaveLength(1);
    expect(service.errors.map(String)).toEqual([`ForgedRow: the row of tenant ${other.tenantId} is not authentic`]);
    expect((await service.service.state()).reasons.join()).toContain(`the row of tenant ${other.tenantId}`);
    expect((await webhooks(service.vault, null)).says).toContain(`those of tenant ${other.tenantId} cannot be read`);
    await row.putBack();
    await attacker.close();
    await deliveries.run();
    expect(told(paused)).toEqual([
      ['token.created', 'before'],
      ['token.created', 'theirs'],
    ]);
    await deliveries.stop();
  });

  /** Creates deliveries, and returns them with a function that damages the tenant's row or its keys. */
  async function deliveriesOf(service: TestService, what: 'row' | 'keys') {
    const { vault, tenantId } = service;
    let areKeysDamaged = false;
    const keys: typeof vault.keys = {
      ...vault.keys,
      tenantKeys(id) {
        if (areKeysDamaged) throw new TenantKeysBroken(`a key of tenant ${id} does not open`);
        return vault.keys.tenantKeys(id);
      },
    };
    const deliveries = createWebhookDeliveries({ ...vault, keys }, (error) => void service.errors.push(error));
    onTestFinished(() => deliveries.stop());
    return {
      deliveries,
      async damage() {
        areKeysDamaged = what === 'keys';
        if (areKeysDamaged) return;
        const attacker = await rowsAttacker(service);
        await attacker.editRecord('tenant', tenantId, { mac: Buffer.alloc(32) });
        await attacker.close();
      },
    };
  }

  describe.each(['row', 'keys'] as const)('whose damage is in its %s', (what) => {
    test.for(['deleted', 'disabled', 'moved'])(
      'does not revive a webhook that was %s before the damage',
      async (how, { service, receiver }) => {
        const { id } = await subscribe(service, receiver.url);
        const { deliveries, damage } = await deliveriesOf(service, what);
        await create(service, 'before');
        await deliveries.run();
        const fields = { url: how === 'moved' ? 'http://127.0.0.1:9/' : receiver.url, enabled: how !== 'disabled' };
        const as = { key: service.managementKey };
        const changed =
          how === 'deleted'
            ? await service.call('DELETE', `/webhooks/${id}`, undefined, as)
            : await service.call('PUT', `/webhooks/${id}`, { ...fields, event_types: tokenEvents }, as);
        expect([200, 204], changed.text).toContain(changed.status);
        await create(service, 'after');
        await damage();
        for (let round = 0; round < 3; round += 1) await deliveries.run();
        expect(told(receiver)).toEqual([['token.created', 'before']]);
      },
    );
  });

  test('is found when a new webhook begins: no state is stored for the webhook', async ({ service, receiver }) => {
    const { id } = await subscribe(service, receiver.url);
    const { vault, tenantId } = service;
    await create(service, 'one');
    // The row is changed after the list of webhooks was read.
    const error = new ForgedRow({ of: 'tenant', name: tenantId }, 'not_authentic');
    const directory = { ...vault.directory, get: () => Promise.reject(error) };
    const errors: unknown[] = [];
    const deliveries = createWebhookDeliveries({ ...vault, directory }, (found) => void errors.push(found));
    await deliveries.run();
    expect(errors).toEqual([error]);
    expect(await vault.webhookStore.state(id)).toBeNull();
    await deliveries.run();
    expect(told(receiver)).toEqual([]);
  });
});
