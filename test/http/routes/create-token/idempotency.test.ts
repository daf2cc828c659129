import { describe, expect } from 'vitest';
import { claimRequest } from '#src/commands/idempotency.js';
import type { Json, JsonObject } from '#src/domain/json.js';
import { rule, type TestService } from '../../../support/test-service.js';
import { tokenize } from '../batch.js';
import {
  card,
  create,
  createPlain,
  expectRefusal,
  hourMs,
  invalid,
  path,
  read,
  sendDuringFirst,
  test,
  uniqueId,
} from '../support.js';

const token = { type: 'token', data: 'first' };
const keyed = (key: string) => ({ 'service-idempotency-key': key });
const gone = { status: 404, code: 'idempotent_result_gone' };

describe('a create with an idempotency key happens once', () => {
  test('a retry gets the first result, whatever its body is and however the header is named', async ({ service }) => {
    const key = uniqueId();
    const first = await service.call('POST', '/tokens', token, { headers: keyed(key) });
    const before = await service.eventCount();
    const body = { type: 'card', data: card, id: uniqueId() };
    const again = await service.call('POST', '/tokens/', body, { headers: { 'idempotency-key': key } });
    expect(first.status).toBe(201);
    expect(again).toMatchObject({ status: 201, body: first.body });
    for (const header of ['location', 'etag']) expect(again.headers[header]).toBe(first.headers[header]);
    expect(await service.eventCount()).toBe(before);
  });

  test('a retry shows the token as it is at that time', async ({ service }) => {
    const headers = keyed(uniqueId());
    const { id } = await create(service, token, { headers });
    await service.call('PATCH', path(id), { data: 'second' });
    const again = await service.call('POST', '/tokens', token, { headers });
    expect(again).toMatchObject({ status: 201, headers: { etag: '"1"' }, body: { id, data: 'second' } });
  });

  test('400 for a retry with a field of the wrong JSON type', async ({ service }) => {
    const headers = keyed(uniqueId());
    const { id } = await create(service, token, { headers });
    await service.call('PATCH', path(id), { data: 'second' }, { headers });
    for (const field of ['id', 'containers', 'metadata', 'search_indexes', 'expires_at', 'deduplicate_token']) {
      const wrong = { [field]: 5 };
      const again = () => service.call('POST', '/tokens', { ...token, ...wrong }, { headers });
      await expectRefusal(service, again, invalid(field));
      if (field === 'id') continue;
      await expectRefusal(service, () => service.call('PATCH', path(id), wrong, { headers }), invalid(field));
    }
  });

  test('409 while the first request is still running', async ({ service }) => {
    const headers = keyed(uniqueId());
    const before = await service.eventCount();
    const answers = await sendDuringFirst(service, () => service.call('POST', '/tokens', token, { headers }));
    expect(answers).toMatchObject([{ status: 201 }, { status: 409, body: { code: 'idempotency_in_flight' } }]);
    expect(await service.eventCount()).toBe(before + 1);
  });

  test('only successes are recorded', async ({ service }) => {
    const headers = keyed(uniqueId());
    const wrong = { ...token, containers: [] };
    await expectRefusal(service, () => service.call('POST', '/tokens', wrong, { headers }), invalid('containers'));
    const { id } = await createPlain(service);
    const taken = () => service.call('POST', '/tokens', { ...token, id }, { headers });
    await expectRefusal(service, taken, { status: 409, code: 'id_in_use' });
    expect((await create(service, token, { headers }))['data']).toBe('first');
  });

  test('404 after that life of the token has ended, even if the id is in use again', async ({ service }) => {
    const headers = keyed(uniqueId());
    const { id } = await create(service, { ...token, id: uniqueId() }, { headers });
    await service.call('DELETE', path(id));
    await expectRefusal(service, () => service.call('POST', '/tokens', token, { headers }), gone);
    await create(service, { ...token, id });
    await expectRefusal(service, () => service.call('POST', '/tokens', token, { headers }), gone);
  });

  test('404 after the token expired', async ({ service }) => {
    const headers = keyed(uniqueId());
    const expires_at = new Date(service.clock.now() + hourMs).toISOString();
    await create(service, { ...token, expires_at }, { headers });
    service.clock.advance(hourMs);
    await expectRefusal(service, () => service.call('POST', '/tokens', token, { headers }), gone);
  });

  test('the key of another caller, tenant or path is independent', async ({ service }) => {
    const headers = keyed(uniqueId());
    const first = await create(service, token, { headers });
    const another = await service.application([rule('/', 'reveal', ['token:create', 'token:update'])]);
    for (const key of [another, await service.otherTenant()]) {
      expect((await create(service, token, { headers, key })).id).not.toBe(first.id);
    }
    const patched = await service.call('PATCH', path(first.id), { data: 'patched' }, { headers });
    expect(patched).toMatchObject({ status: 200, body: { id: first.id, data: 'patched' } });
  });

  test('the key of another method is independent', async ({ service }) => {
    const { vault, tenantId } = service;
    const keys = await vault.keys.tenantKeys(tenantId);
    if (keys === null) throw new Error('the tenant has keys');
    const [application, key] = [uniqueId(), uniqueId()];
    // No path has two methods that accept an idempotency key, so this test calls the function itself.
    for (const method of ['POST', 'PATCH']) {
      const claimed = await claimRequest(vault, keys, application, { method, path: '/tokens', key });
      expect(claimed.state).toBe('first');
    }
  });

  test('the caller’s current rules apply to a retry', async ({ service }) => {
    const headers = keyed(uniqueId());
    const key = await service.application([rule('/a/', 'reveal', ['token:create'])]);
    const { id } = await create(service, { ...token, containers: ['/a/'] }, { headers, key });
    await service.call('PATCH', path(id), { containers: ['/b/'] });
    const again = () => service.call('POST', '/tokens', token, { headers, key });
    await expectRefusal(service, again, { status: 403, code: 'forbidden' });
  });

  test('a caller that may not read the token does not see what was stored in it since', async ({ service }) => {
    const sees = await service.application([rule('/', 'reveal', ['token:create'])]);
    const reads = await service.application([
      rule('/', 'reveal', ['token:create'], 1),
      rule('/', 'mask', ['token:read'], 2),
    ]);
    const changes = [
      { data: { number: '5555555555554444', holder: 'Ada', cvc: '987' }, mask: { holder: '{{ data.holder }}' } },
      { data: { cvc: '987' } },
      { metadata: { internal: 'note' } },
      { mask: { number: '{{ data.number }}' } },
    ];
    for (const patch of changes) {
      for (const key of [await service.application(['token:create'], 'public'), sees, reads]) {
        const options = { key, headers: keyed(uniqueId()) };
        const body = { type: 'card', data: { number: '4242424242424242' } };
        const { id } = await create(service, body, options);
        expect((await service.call('PATCH', path(id), patch)).status).toBe(200);
        const again = await service.call('POST', '/tokens', body, options);
        expect(again.status, again.text).toBe(201);
        if (key === reads) expect(again.body).toEqual(await read(service, id, key));
        else {
          expect(again.body).toEqual({ id, type: 'card', tenant_id: service.tenantId, containers: ['/pci/high/'] });
        }
        const [part] = (await tokenizeAgain(service, body, key, patch)) as [JsonObject];
        if (key !== reads) expect(Object.keys(part).sort()).toEqual(['containers', 'id', 'tenant_id', 'type']);
      }
    }
  });

  test('after 24 hours, the key counts as new, even for a token without a given id', async ({ service }) => {
    const headers = keyed(uniqueId());
    const first = await create(service, token, { headers });
    service.clock.advance(24 * hourMs);
    expect((await create(service, token, { headers })).id, 'the last instant').toBe(first.id);
    for (let days = 1; days <= 3; days += 1) {
      service.clock.advance(1);
      const next = await create(service, token, { headers });
      expect(next.id).not.toBe(first.id);
      service.clock.advance(24 * hourMs);
    }
    expect(await read(service, first.id)).toEqual(first);
  });

  test('a retry of a deduplicated create is marked as a duplicate as well', async ({ service }) => {
    const headers = keyed(uniqueId());
    const data = { ...card, number: '4000056655665556' };
    const { id } = await create(service, { type: 'card', data });
    const body = { type: 'card', data, deduplicate_token: true };
    const first = await create(service, body, { headers });
    expect(first).toMatchObject({ id, _extras: { deduplicated: true, cvc_ignored: true } });
    expect(await create(service, body, { headers })).toEqual(first);
  });
});

/** Tokenizes, changes the token, and returns the response to a retry. */
async function tokenizeAgain(service: TestService, body: JsonObject, key: string, patch: object): Promise<Json> {
  const options = { key, headers: keyed(uniqueId()) };
  const [{ id }] = (await tokenize(service, [body], options)) as [{ readonly id: string }];
  await service.call('PATCH', path(id), patch);
  return tokenize(service, [body], options);
}

describe('400 for an idempotency key of the wrong length', () => {
  test.for([0, 201])('an idempotency key of %s characters', async (length, { service }) => {
    const headers = keyed('k'.repeat(length));
    const send = () => service.call('POST', '/tokens', token, { headers });
    await expectRefusal(service, send, invalid('SERVICE-IDEMPOTENCY-KEY'));
  });

  test('characters are counted, not bytes', async ({ service }) => {
    // Node.js decodes headers as Latin-1.
    const sent = (key: string) => Buffer.from(key).toString('latin1');
    const headers = keyed(sent(uniqueId().padEnd(200, 'é')));
    const { id } = await create(service, token, { headers });
    expect((await create(service, token, { headers })).id).toBe(id);
    const send = () => service.call('POST', '/tokens', token, { headers: keyed(sent('é'.repeat(201))) });
    await expectRefusal(service, send, invalid('SERVICE-IDEMPOTENCY-KEY'));
  });

  test('200 characters are accepted', async ({ service }) => {
    const headers = keyed(uniqueId().padEnd(200, 'k'));
    const { id } = await create(service, token, { headers });
    expect((await create(service, token, { headers })).id).toBe(id);
  });
});
