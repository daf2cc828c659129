import { describe, expect } from 'vitest';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { card, create, createPlain, hourMs, minuteMs, path, test, uniqueId } from '../support.js';
import { logs, logsAnswer, operationsOn } from './support.js';

const aDayMs = 24 * hourMs;

describe('the access log records', () => {
  test('the life of a token, with one entry per operation that contains who, what, when, from where, and the trace id', async ({
    service,
  }) => {
    const { id } = await create(service, { id: uniqueId(), type: 'card', data: card });
    await service.call('GET', path(id), undefined, { headers: { 'service-trace-id': 'my-trace' } });
    await service.call('PATCH', path(id), { metadata: { a: 'b' } });
    await service.call('DELETE', `${path(id)}/cvc`);
    await service.call('DELETE', path(id));
    expect(await operationsOn(service, id)).toEqual(['create', 'reveal', 'update', 'reveal', 'purge', 'delete']);
    const [entry, ...others] = await logs(service, { entity_id: id, operation: 'reveal' });
    expect(others).toHaveLength(1);
    expect(others[0]).toMatchObject({ trace_id: 'my-trace' });
    expect(entry).toEqual({
      tenant_id: service.tenantId,
      actor_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      actor_type: 'application',
      key_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source_address: '127.0.0.1',
      entity_type: 'token',
      entity_id: id,
      entity_ref: expect.stringMatching(/^[0-9a-f]{64}$/),
      operation: 'reveal',
      outcome: 'success',
      message: 'token shown in plaintext',
      trace_id: expect.stringMatching(/./),
      created_at: new Date(service.clock.now()).toISOString().replace('Z', '+00:00'),
    });
    const created = await logs(service, { entity_id: id, operation: 'create' });
    expect(created[0]).toMatchObject({ key_id: entry?.['key_id'], source_address: '127.0.0.1' });
  });

  test('a masked read as a read, and no read for a masked response to a create or update', async ({ service }) => {
    const key = await service.application(tokenPermissions);
    const { id } = await createPlain(service);
    await service.call('GET', path(id), undefined, { key });
    await service.call('PATCH', path(id), { metadata: { a: 'b' } }, { key });
    expect(await operationsOn(service, id)).toEqual(['create', 'read', 'update']);
  });

  test('a retry and a deduplication as reveals, because they show a stored token', async ({ service }) => {
    const headers = { 'service-idempotency-key': uniqueId() };
    const body = { type: 'token', data: uniqueId(), deduplicate_token: true };
    const { id } = await create(service, body, { headers });
    await create(service, body, { headers });
    await create(service, body);
    expect(await operationsOn(service, id)).toEqual(['create', 'reveal', 'reveal']);
  });

  test('nothing for a 304, because it shows no data', async ({ service }) => {
    const { id } = await createPlain(service);
    await service.call('GET', path(id), undefined, { headers: { 'if-none-match': '*' } });
    expect(await operationsOn(service, id)).toEqual(['create', 'read']);
  });

  test('an expiry, and the end of a cvc’s hour, as done by the service itself', async ({ service }) => {
    const expires_at = new Date(service.clock.now() + 2 * hourMs).toISOString();
    const { id } = await create(service, { type: 'card', data: card, expires_at });
    service.clock.advance(2 * hourMs);
    await service.service.sweep.run();
    expect(new Set(await operationsOn(service, id))).toEqual(new Set(['create', 'purge', 'expiry']));
    const [entry] = await logs(service, { entity_id: id, operation: 'expiry' });
    expect(entry).toMatchObject({ actor_id: 'system', actor_type: 'system' });
    expect(entry).not.toHaveProperty('key_id');
    expect(entry).not.toHaveProperty('trace_id');
  });

  test('each 403, whether a permission or a rule was missing', async ({ service }) => {
    const { id } = await createPlain(service);
    const reader = await service.application(['token:read']);
    const elsewhere = { description: '', priority: 1, container: '/x/', transform: 'mask' } as const;
    const stranger = await service.application([{ ...elsewhere, permissions: tokenPermissions }]);
    await service.call('DELETE', path(id), undefined, { key: reader });
    await service.call('GET', path(id), undefined, { key: stranger });
    await service.call('POST', '/tokens', { type: 'token', data: 1 }, { key: reader });
    expect(await operationsOn(service, id)).toEqual(['create', 'delete denied', 'read denied']);
    const [refused] = await logs(service, { entity_type: 'token', operation: 'create' });
    expect(refused).toMatchObject({ outcome: 'denied' });
    expect(refused).not.toHaveProperty('entity_id');
  });

  test('reads of the log, rejected reads of the log, and reads of applications and tenants', async ({ service }) => {
    await service.call('GET', '/logs');
    await logs(service);
    const [read, refused] = await logs(service, { entity_type: 'log' });
    expect(read).toMatchObject({ operation: 'read', outcome: 'success', message: 'access log read' });
    expect(refused).toMatchObject({ operation: 'read', outcome: 'denied' });
    await service.application(['token:read']);
    const [application] = await logs(service, { entity_type: 'application', operation: 'create' });
    expect(application).toMatchObject({ actor_type: 'operator', entity_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const byId = await logs(service, { entity_id: String(application?.['entity_id']) });
    expect(byId).toEqual([application]);
    const [tenant] = await logs(service, { entity_type: 'tenant', start_date: '2026-01-01' });
    expect(tenant).toMatchObject({ operation: 'create', entity_id: service.tenantId });
  });
});

describe('the id of a token', () => {
  test('is shown while the token lives, and afterwards only to a request for that id', async ({ service }) => {
    const { id } = await createPlain(service);
    const ref = (await logs(service, { entity_id: id }))[0]?.['entity_ref'];
    const shown = async () => (await logs(service)).filter(({ entity_ref }) => entity_ref === ref);
    expect((await shown()).map(({ entity_id }) => entity_id)).toEqual([id]);
    await service.call('DELETE', path(id));
    const after = await shown();
    expect(after.map(({ operation }) => operation)).toEqual(['delete', 'create']);
    for (const entry of after) expect(entry).not.toHaveProperty('entity_id');
    expect((await logs(service, { entity_id: id })).map(({ entity_id }) => entity_id)).toEqual([id, id]);
  });

  test('is no longer shown from the time of its expiry on, even before the expiry is recorded', async ({ service }) => {
    const expires_at = new Date(service.clock.now() + minuteMs).toISOString();
    const { id } = await createPlain(service, { expires_at });
    service.clock.advance(minuteMs);
    expect((await logs(service)).map(({ entity_id }) => entity_id)).not.toContain(id);
  });
});

describe('filters and pages', () => {
  test('a tenant sees only its own entries, even if it requests the id of another tenant’s token', async ({
    service,
  }) => {
    const key = await service.otherTenant();
    const id = uniqueId();
    await create(service, { id, type: 'token', data: 1 }, { key });
    expect(await logs(service, { entity_id: id })).toEqual([]);
    expect(new Set((await logs(service)).map(({ tenant_id }) => tenant_id))).toEqual(new Set([service.tenantId]));
  });

  test('without start_date, the last 24 hours are shown; start_date is inclusive, and end_date is exclusive', async ({
    service,
  }) => {
    const { id } = await createPlain(service);
    const created = service.clock.now();
    service.clock.advance(aDayMs);
    expect(await logs(service, { entity_id: id })).toHaveLength(1);
    service.clock.advance(1);
    expect(await logs(service, { entity_id: id })).toHaveLength(0);
    const iso = (ms: number) => new Date(ms).toISOString();
    const between = async (start: number, end: number) =>
      (await logs(service, { entity_id: id, start_date: iso(start), end_date: iso(end) })).length;
    expect(await between(created, created + 1)).toBe(1);
    expect(await between(created - 1, created)).toBe(0);
    expect(await between(created + 1, created + aDayMs)).toBe(0);
    expect(await between(created + 1, created)).toBe(0);
    const later = iso(created).replace('Z', '9Z');
    expect(await logs(service, { entity_id: id, start_date: later }), 'a fraction of a millisecond later').toEqual([]);
    const untilLater = { entity_id: id, start_date: iso(created), end_date: later };
    expect(await logs(service, untilLater)).toHaveLength(1);
    const untilTheEnd = { ...untilLater, end_date: '9999-12-31T23:59:59.9999999Z' };
    expect(await logs(service, untilTheEnd)).toHaveLength(1);
    const [entry] = await logs(service, { entity_id: id, start_date: iso(created) });
    const plain = await service.call(
      'GET',
      `/logs?entity_id=${encodeURIComponent(id)}&start_date=${entry?.['created_at']}`,
      undefined,
      { key: service.managementKey },
    );
    expect(plain.body, 'a plus sign as it stands in our own answers').toMatchObject({ data: [{ entity_id: id }] });
  });

  test('pages span months, are newest first with exact totals, and are empty past the end', async ({ service }) => {
    const { id } = await createPlain(service);
    const before = service.clock.now();
    for (let count = 0; count < 4; count += 1) {
      service.clock.advance(20 * aDayMs);
      await service.call('GET', path(id));
    }
    const query = { entity_id: id, start_date: new Date(before).toISOString(), size: '2' };
    const pages = [await logsAnswer(service, query), await logsAnswer(service, { ...query, page: '3' })];
    expect(pages[0]).toMatchObject({
      pagination: { total_items: 5, page_number: 1, page_size: 2, total_pages: 3 },
      data: [{ operation: 'reveal' }, { operation: 'reveal' }],
    });
    expect(pages[1]).toMatchObject({ pagination: { total_items: 5, page_number: 3 }, data: [{ operation: 'create' }] });
    for (const page of ['4', '9007199254740991']) {
      expect(await logsAnswer(service, { ...query, page })).toMatchObject({
        pagination: { total_items: 5, total_pages: 3 },
        data: [],
      });
    }
  });

  test('unknown parameters and a trailing slash are ignored', async ({ service }) => {
    const answer = await service.call('GET', '/logs/?other=1', undefined, { key: service.managementKey });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body['pagination']).toMatchObject({ page_number: 1, page_size: 20 });
  });
});
