import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { webhookSender } from '#src/adapters/webhook-target/webhook-sender.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import type { EventLog } from '#src/ports/event-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import type { UnitOfWork } from '#src/ports/unit-of-work.js';
import { profile } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { startReceiver } from './receiver.js';

let service: TestService;
beforeEach(async () => {
  service = await startTestService({ webhookSender: webhookSender({ allowsPrivate: true, limitMs: 5_000 }) });
});
afterEach(() => service.close());

const path = (id: string) => `/tokens/${id}`;

async function streamOf(id: string): Promise<string> {
  const keys = await service.vault.keys.tenantKeys(service.tenantId);
  if (keys === null) throw new Error('the tenant has keys');
  return tokenStream(keys.names, id);
}

/** Creates two tokens in one request. The log fails after it has stored the first. Returns their ids. */
async function failHalfway(
  stored = `stored-${randomUUID()}`,
): Promise<{ readonly stored: string; readonly missing: string }> {
  const missing = `missing-${randomUUID()}`;
  const lost = await streamOf(missing);
  const log = service.vault.log as { append: EventLog['append'] };
  const { append } = log;
  log.append = async (stream, ...rest) => {
    if (stream === lost) throw new StoreUnavailable('event log', 'simulated');
    return append(stream, ...rest);
  };
  const both = [stored, missing].map((id) => ({ type: 'token', data: id, id }));
  expect((await service.call('POST', '/tokenize', both)).status).toBe(503);
  log.append = append;
  expect(await typesOf(stored)).toEqual(['token.created']);
  return { stored, missing };
}

async function typesOf(id: string): Promise<readonly string[]> {
  return (await service.vault.log.readStream(await streamOf(id))).map(({ type }) => type);
}

// In the embedded profile, one transaction creates all tokens of a request.
describe.skipIf(profile === 'embedded')('if a request that creates tokens fails halfway', () => {
  test('no change to one of its tokens is acknowledged, because the token is removed', async () => {
    const { stored } = await failHalfway();
    const change = { metadata: { note: 'acknowledged' } };
    expect((await service.call('PATCH', path(stored), change)).status).toBe(404);
    expect((await service.call('GET', path(stored))).status).toBe(404);
    expect(await typesOf(stored)).toEqual(['token.created', 'token.deleted']);
  });

  test('an update that changes nothing does not return its token', async () => {
    const { stored } = await failHalfway();
    expect((await service.call('PATCH', path(stored), {})).status).toBe(404);
  });

  test.each([
    ['an update that changes nothing', () => service.call('PATCH', path('stored'), {}), 404],
    [
      'a creation with the same id',
      () => service.call('POST', '/tokens', { type: 'token', data: 'x', id: 'stored' }),
      201,
    ],
  ])('and another process removes its token first, %s does not find the token', async (_, send, status) => {
    await failHalfway('stored');
    const work = service.vault.work as { follow: UnitOfWork['follow'] };
    const { follow } = work;
    work.follow = async (streams) => {
      // The first call does what another process does after this process has loaded the token.
      await follow(streams);
      return follow(streams);
    };
    expect((await send()).status).toBe(status);
    work.follow = follow;
  });

  test('a retry without an idempotency key creates the tokens', async () => {
    const { stored, missing } = await failHalfway();
    expect((await service.call('POST', '/tokens', { type: 'token', data: 'again', id: stored })).status).toBe(201);
    expect((await service.call('POST', '/tokens', { type: 'token', data: 'again', id: missing })).status).toBe(201);
    expect((await service.call('GET', path(stored))).body).toMatchObject({ data: 'again' });
  });

  test.each([
    ['all tokens', {}],
    ['some containers', { containers: ['/general/'] }],
  ])('a webhook for %s is not notified of its tokens', async (_, fields) => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const webhook = { url: receiver.url, event_types: ['token.created', 'token.deleted'], ...fields };
    const made = await service.call('POST', '/webhooks', webhook, { key: service.managementKey });
    expect(made.status, made.text).toBe(201);
    const { stored } = await failHalfway();
    await service.service.webhooks.run();
    expect(receiver.received).toEqual([]);
    expect((await service.call('PATCH', path(stored), {})).status).toBe(404);
    expect((await service.call('POST', '/tokens', { type: 'token', data: 'later', id: 'later' })).status).toBe(201);
    await service.service.webhooks.run();
    expect(receiver.received.map(({ data }) => data['token_id'])).toEqual(['later']);
    expect(service.errors).toEqual([]);
  });

  test('the webhooks of other tenants are notified in the meantime', async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const access = { kind: 'permissions', permissions: tokenPermissions } as const;
    const spec = { name: 'all', type: 'private', access, expiresAt: null } as const;
    const other = await createTenant(service.vault, 'other', [spec]);
    const webhook = { url: receiver.url, event_types: ['token.created'] };
    const made = await service.call('POST', '/webhooks', webhook, { key: other.managementKey.reveal() });
    expect(made.status, made.text).toBe(201);
    await failHalfway();
    const key = other.keys[0]?.reveal() ?? '';
    expect((await service.call('POST', '/tokens', { type: 'token', data: 'x', id: 'theirs' }, { key })).status).toBe(
      201,
    );
    await service.service.webhooks.run();
    expect(receiver.received.map(({ data }) => data['token_id'])).toEqual(['theirs']);
  });

  test('a deletion of one of its tokens succeeds', async () => {
    const { stored } = await failHalfway();
    expect((await service.call('DELETE', path(stored))).status).toBe(204);
    expect(await typesOf(stored)).toEqual(['token.created', 'token.deleted']);
  });
});
