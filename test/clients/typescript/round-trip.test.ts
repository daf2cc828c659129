import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createClient,
  isProblemCode,
  type Strongroom,
  StrongroomError,
} from '../../../clients/typescript/src/client.js';
import { startRecordedService } from '../recorded-service.js';

let recorded: Awaited<ReturnType<typeof startRecordedService>>;
let vault: Strongroom;
let manager: Strongroom;
let etag: string | null = null;

beforeAll(async () => {
  recorded = await startRecordedService();
  const { address, service } = recorded;
  vault = createClient({ address, apiKey: service.key, onResponse: ({ headers }) => (etag = headers.get('etag')) });
  manager = createClient({ address, apiKey: service.managementKey });
});
afterAll(() => recorded.service.close());

async function idsOf(items: AsyncIterable<{ readonly id: string }>): Promise<readonly string[]> {
  return (await listOf(items)).map(({ id }) => id);
}

async function listOf<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function failureOf(call: Promise<unknown>): Promise<StrongroomError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StrongroomError)) throw new Error(`no StrongroomError: ${String(error)}`);
  return error;
}

describe('the TypeScript client', () => {
  test('stores, reads, changes and deletes tokens', async () => {
    const card = await vault.createToken({
      body: {
        type: 'card',
        data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' },
        metadata: { customer: 'c-17' },
      },
    });
    const { id } = card;
    expect((await vault.getToken({ path: { id } })).data).toMatchObject({ number: '4242424242424242', cvc: '123' });
    const first = etag;
    expect(first).toMatch(/^"/);
    await vault.purgeCvc({ path: { id } });
    expect((await vault.getToken({ path: { id } })).data).not.toHaveProperty('cvc');
    const stale = vault.updateToken({ path: { id }, header: { 'If-Match': first ?? '' }, body: { metadata: {} } });
    expect(await failureOf(stale)).toMatchObject({ code: 'precondition_failed', status: 412 });
    const changed = await vault.updateToken({ path: { id }, body: { metadata: { customer: 'c-18' } } });
    expect(changed.metadata).toEqual({ customer: 'c-18' });
    const notes = await vault.tokenHistory({ path: { id } });
    expect(notes.data.length).toBeGreaterThan(2);
    const filtered = await vault.listTokens({ query: { metadata_filter: { 'metadata.customer': 'c-18' } } });
    expect(filtered.data.map((token) => token.id)).toEqual([id]);
    const none = await vault.listTokens({ query: { metadata_filter: { 'metadata.customer': 'c-17' } } });
    expect(none.data).toEqual([]);
    await vault.deleteToken({ path: { id } });
    expect(await failureOf(vault.getToken({ path: { id } }))).toMatchObject({ code: 'token_not_found', status: 404 });
  });

  test('tokenizes, detokenizes and deletes many tokens', async () => {
    const { name } = (await vault.tokenize({ body: { name: { type: 'token', data: 'Ada' } } })) as {
      name: { id: string };
    };
    expect(await vault.detokenize({ body: { text: `Dear {{ ${name.id} }}` } })).toEqual({ text: 'Dear Ada' });
    await vault.deleteTokens({ body: { ids: [name.id] } });
    expect((await failureOf(vault.getToken({ path: { id: name.id } }))).code).toBe('token_not_found');
  });

  test('iterates over version 1 pages and version 2 cursors, which may be in the query or in the body', async () => {
    const made: string[] = [];
    for (let number = 0; number < 5; number += 1) {
      made.unshift((await vault.createToken({ body: { type: 'token', data: number } })).id);
    }
    expect(await idsOf(vault.iterate('listTokens', { query: { size: 2 } }))).toEqual(made);
    expect(await idsOf(vault.iterate('listTokens', { query: { size: 2, page: 2 } }))).toEqual(made.slice(2));
    expect(await idsOf(vault.iterate('listTokensV2', { query: { size: 2 } }))).toEqual(made);
    expect(await idsOf(vault.iterate('searchTokens', { body: { query: 'type:token', size: 2 } }))).toEqual(made);
    expect(await idsOf(vault.iterate('searchTokensV2', { body: { query: 'type:token', size: 2 } }))).toEqual(made);
    expect(await idsOf(vault.iterate('searchTokens', { body: { query: 'type:card' } }))).toEqual([]);
    const { suggestions } = await vault.searchSuggestions({ query: { prefix: 'typ' } });
    expect(suggestions.length).toBeGreaterThan(0);
  });

  test('changes nothing when it repeats a request with the same idempotency key', async () => {
    const header = { 'SERVICE-IDEMPOTENCY-KEY': 'once' };
    const first = await vault.createToken({ header, body: { type: 'token', data: 'once' } });
    const second = await vault.createToken({ header, body: { type: 'token', data: 'once' } });
    expect(second.id).toBe(first.id);
    const other = await vault.createToken({ body: { type: 'token', data: 'once' } });
    expect(other.id).not.toBe(first.id);
  });

  test('manages applications, keys and the tenant', async () => {
    const own = await vault.getOwnApplication();
    expect(own.name).toBe('all');
    const body = { name: 'shop', type: 'private', permissions: ['token:read'] } as const;
    const { id, key } = await manager.createApplication({ body: { ...body, permissions: [...body.permissions] } });
    expect(key).toMatch(/^sr_private_/);
    expect((await manager.getApplication({ path: { id } })).name).toBe('shop');
    const update = { ...body, name: 'store', permissions: ['token:read' as const] };
    expect((await manager.updateApplication({ path: { id }, body: update })).name).toBe('store');
    const issued = await manager.issueKey({ path: { id } });
    expect((await manager.listKeys({ path: { id } })).map((one) => one.id)).toContain(issued.id);
    await manager.revokeKey({ path: { id, key_id: issued.id } });
    expect(await idsOf(manager.iterate('listApplications', { query: { size: 1 } }))).toContain(id);
    await manager.deleteApplication({ path: { id } });
    expect((await failureOf(manager.getApplication({ path: { id } }))).code).toBe('application_not_found');
    expect((await manager.listPermissions()).length).toBeGreaterThan(5);
    expect((await manager.updateTenant({ body: { name: 'renamed' } })).name).toBe('renamed');
    expect((await manager.getTenant()).name).toBe('renamed');
    await manager.usageReport();
  });

  test('manages webhooks', async () => {
    // This name never resolves, because .invalid is reserved (RFC 2606), so no delivery can reach a server.
    const url = 'https://receiver.invalid/hook';
    const { id, secret } = await manager.createWebhook({ body: { url, event_types: ['token.deleted'] } });
    expect(secret).toMatch(/^whsec_/);
    expect((await manager.getWebhook({ path: { id } })).url).toBe(url);
    expect(await idsOf(manager.iterate('listWebhooks', { query: { size: 1 } }))).toEqual([id]);
    const body = { url, event_types: ['token.expired'], enabled: false };
    expect((await manager.updateWebhook({ path: { id }, body })).enabled).toBe(false);
    expect((await manager.rotateWebhookSecret({ path: { id }, body: {} })).secret).not.toBe(secret);
    expect((await manager.testWebhook({ path: { id } })).outcome).toBe('failed');
    expect((await manager.listWebhookDeliveries({ path: { id } })).data).toEqual([]);
    await manager.deleteWebhook({ path: { id } });
    expect((await failureOf(manager.getWebhook({ path: { id } }))).code).toBe('webhook_not_found');
  });

  test('reads the access log and the service’s own status', async () => {
    const log = await listOf(manager.iterate('listLogs', { query: { size: 100 } }));
    const { pagination } = await manager.listLogs({ query: { size: 1 } });
    // Reading each page adds an entry, which must not make a later page repeat one.
    const pages = await listOf(manager.iterate('listLogs', { query: { size: 5 } }));
    expect(pages.length).toBe(pagination.total_items + 1);
    expect(log.length).toBeGreaterThan(10);
    await recorded.service.service.checkpointer.run();
    const { data } = await manager.listCheckpoints();
    expect(data.length).toBeGreaterThan(0);
    expect(await vault.isLive()).toEqual({ status: 'live' });
    expect(await vault.isReady()).toEqual({ status: 'ready' });
    expect(await vault.explainError({ path: { code: 'token_not_found' } })).toContain('token_not_found');
    expect(await vault.describeService()).toHaveProperty('openapi', '3.1.0');
    expect(await vault.showReference()).toContain('<html');
    expect(await vault.showStyle()).toContain('{');
    expect(await vault.showScript()).toContain('{');
  });

  test('reports an invalid request as an error with code, status, fields and trace id', async () => {
    const header = { 'SERVICE-TRACE-ID': 'trace-of-mine' };
    const error = await failureOf(vault.createToken({ header, body: { type: 'card', data: 'x' } }));
    expect(error).toMatchObject({ code: 'validation_failed', status: 400, traceId: 'trace-of-mine' });
    expect(Object.keys(error.errors).length).toBeGreaterThan(0);
    expect(isProblemCode(error.code)).toBe(true);
    const denied = await failureOf(vault.getTenant());
    expect(denied).toMatchObject({ code: 'permission_missing', status: 403 });
  });

  test('calls every operation in the OpenAPI document', async () => {
    await manager.deleteTenant({ body: { name: 'renamed' } });
    expect(recorded.called()).toEqual(recorded.all);
  });
});
