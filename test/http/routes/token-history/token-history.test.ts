import { describe, expect, onTestFinished } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { tokenHistory } from '#src/queries/token-history.js';
import { rule, type TestService } from '../../../support/test-service.js';
import { makeManager, ownId, timestamp } from '../directory-support.js';
import { card, create, createPlain, expectRefusal, hourMs, invalid, path, test, uniqueId } from '../support.js';

const notFound = { status: 404, code: 'token_not_found' };

async function history(service: TestService, id: string, key = service.key, query = '') {
  const answer = await service.call('GET', `${path(id)}/history${query}`, undefined, { key });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  const { data, pagination } = answer.body as { data: JsonObject[]; pagination: JsonObject };
  return { data, pagination, types: data.map(({ type }) => type), text: answer.text };
}

describe('200 the events of a token, newest first', () => {
  test('are each shown with application, time, request and fields, and never with a value', async ({ service }) => {
    const id = uniqueId();
    const headers = { 'service-trace-id': 'the-first.request' };
    await create(service, { id, type: 'card', data: card, metadata: { k: 'Sensitive' } }, { headers });
    await service.call('PATCH', path(id), { metadata: { k: 'Sensitive too' }, data: { expiration_month: 1 } });
    await service.call('DELETE', `${path(id)}/cvc`);
    const { data, text, pagination } = await history(service, id);
    const actor_id = await ownId(service, service.key);
    const common = { actor_id, created_at: timestamp, trace_id: expect.stringMatching(/./) };
    expect(data).toEqual([
      { type: 'token.property.expired', revision: 2, changed: ['cvc'], ...common },
      { type: 'token.updated', revision: 1, changed: expect.any(Array), ...common },
      { type: 'token.created', revision: 0, changed: [], ...common, trace_id: 'the-first.request' },
    ]);
    expect([...((data[1]?.['changed'] ?? []) as string[])].sort()).toEqual(['data', 'metadata']);
    expect(pagination).toEqual({ total_items: 3, page_number: 1, page_size: 20, total_pages: 1 });
    expect(text).not.toMatch(/Sensitive|42424242|"123"/);
  });

  test('an expiry that the system recorded has no trace id', async ({ service }) => {
    const expires_at = new Date(service.clock.now() + hourMs).toISOString();
    const { id } = await createPlain(service, { expires_at });
    service.clock.advance(hourMs);
    await service.service.sweep.run();
    const [expired] = (await history(service, id)).data;
    expect(expired).toEqual({
      type: 'token.expired',
      revision: 1,
      actor_id: 'system',
      created_at: timestamp,
      changed: [],
    });
  });

  test('are split into pages', async ({ service }) => {
    const { id } = await createPlain(service);
    for (let i = 0; i < 4; i += 1) await service.call('PATCH', path(id), { metadata: { i: String(i) } });
    const page = await history(service, id, service.key, '?page=2&size=2');
    expect(page.data.map(({ revision }) => revision)).toEqual([2, 1]);
    expect(page.pagination).toEqual({ total_items: 5, page_number: 2, page_size: 2, total_pages: 3 });
    expect((await history(service, id, service.key, '?page=9')).data).toEqual([]);
  });
});

describe('200 the lives of a token', () => {
  test('with log:read, all lives are shown with their numbers; with token:read, only the current life, or else the last one', async ({
    service,
  }) => {
    const id = uniqueId();
    for (const _ of [1, 2]) {
      await create(service, { id, type: 'token', data: 'x' });
      await service.call('DELETE', path(id));
    }
    const { key } = await makeManager(service, ['log:read']);
    const all = ['token.deleted', 'token.created', 'token.deleted', 'token.created'];
    const logged = await history(service, id, key);
    expect(logged.types).toEqual(all);
    expect(logged.data.map(({ life }) => life)).toEqual([2, 2, 1, 1]);
    const last = await history(service, id);
    expect(last.types).toEqual(all.slice(0, 2));
    expect(last.data[0]).not.toHaveProperty('life');
    await create(service, { id, type: 'token', data: 'x' });
    expect((await history(service, id)).types).toEqual(['token.created']);
    expect((await history(service, id, key)).types).toEqual(['token.created', ...all]);
  });
});

test('a life that begins when the previous one ends has the next number', async ({ service }) => {
  const id = uniqueId();
  const expires_at = new Date(service.clock.now() + hourMs).toISOString();
  await create(service, { id, type: 'token', data: 'x', expires_at });
  service.clock.advance(hourMs);
  await create(service, { id, type: 'token', data: 'y' });
  const { key } = await makeManager(service, ['log:read']);
  const { data } = await history(service, id, key);
  expect(data.map(({ type, life }) => [type, life])).toEqual([
    ['token.created', 2],
    ['token.expired', 1],
    ['token.created', 1],
  ]);
  expect((await history(service, id)).types).toEqual(['token.created']);
});

test('if another token gets the id during the request, a caller sees only the life whose containers it may read', async ({
  service,
}) => {
  const id = uniqueId();
  const { vault } = service;
  for (const [before, after] of [
    ['/a/', '/b/'],
    ['/b/', '/a/'],
  ]) {
    await create(service, { id, type: 'token', data: 'x', containers: [before] });
    const key = await service.application([rule('/b/', 'redact', ['token:read'])]);
    const caller = await service.service.authenticate(key);
    if (caller === null) throw new Error('the key is good');
    let reads = 0;
    const log = {
      ...vault.log,
      async readClearFrom(...args: Parameters<typeof vault.log.readClearFrom>) {
        const page = await vault.log.readClearFrom(...args);
        reads += 1;
        if (reads === 1) {
          await service.call('DELETE', path(id));
          await create(service, { id, type: 'token', data: 'y', containers: [after] });
        }
        return page;
      },
    };
    const asked = { caller, beganAt: performance.now() };
    const result = await tokenHistory({ ...vault, log }, asked, id, { offset: 0, limit: 20 });
    if (before === '/a/') expect(result).toMatchObject({ ok: false, code: 'forbidden' });
    else expect(result).toMatchObject({ ok: true, value: { total: 1, entries: [{ type: 'token.created' }] } });
    await service.call('DELETE', path(id));
  }
});

describe('403 and 404', () => {
  test('403 for a live token outside the rules, and 404 for a deleted one without a rule for /', async ({
    service,
  }) => {
    const containers = ['/pci/high/'];
    const { id } = await createPlain(service, { containers });
    const inside = await service.application([rule('/pci/', 'redact', ['token:read'])]);
    const outside = await service.application([rule('/bank/', 'reveal', ['token:read'])]);
    const onRoot = await service.application([rule('/', 'redact', ['token:read'])]);
    const plain = await service.application(['token:read']);
    const ask =
      (key: string, of = id) =>
      () =>
        service.call('GET', `${path(of)}/history`, undefined, { key });
    expect((await history(service, id, inside)).types).toEqual(['token.created']);
    await expectRefusal(service, ask(outside), { status: 403, code: 'forbidden' });
    await service.call('DELETE', path(id));
    for (const key of [inside, outside]) await expectRefusal(service, ask(key), notFound);
    for (const key of [onRoot, plain]) expect((await history(service, id, key)).types).toHaveLength(2);
  });

  test('404 for an unknown token and for another tenant’s token, even with log:read', async ({ service }) => {
    const foreign = await createPlain(service, {});
    const otherKey = await service.otherTenant();
    const { key } = await makeManager(service, ['log:read']);
    const ask = (id: string, as: string) => () => service.call('GET', `${path(id)}/history`, undefined, { key: as });
    await expectRefusal(service, ask(foreign.id, otherKey), notFound);
    for (const as of [key, service.key]) await expectRefusal(service, ask(uniqueId(), as), notFound);
  });

  test('400 for an invalid page is checked before 404', async ({ service }) => {
    const send = () => service.call('GET', `/tokens/${uniqueId()}/history?page=0&size=x`);
    await expectRefusal(service, send, invalid('page', 'size'));
  });
});

describe('503 if a store may have returned outdated data', () => {
  test.for([
    ['a token that does not exist', 404],
    ['a token that the caller may not read', 403],
  ] as const)('%s is not reported as %i', async ([what, status], { service }) => {
    const { id } = await createPlain(service, { containers: ['/a/'] });
    const key = await service.application([rule('/b/', 'mask', ['token:read'])]);
    const asked = `${path(status === 404 ? 'none' : id)}/history`;
    expect((await service.call('GET', asked, undefined, { key })).status, what).toBe(status);
    const { confirmReads } = service.vault;
    onTestFinished(() => void Object.assign(service.vault, { confirmReads }));
    Object.assign(service.vault, {
      async confirmReads() {
        throw new StoreUnavailable('mongodb', 'primary_changed');
      },
    });
    expect(await service.call('GET', asked, undefined, { key })).toMatchObject({
      status: 503,
      body: { code: 'store_unavailable' },
    });
  });
});
