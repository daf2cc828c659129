import { describe, expect } from 'vitest';
import {
  card,
  create,
  createPlain,
  hourMs,
  minuteMs,
  path,
  read,
  streamSince,
  test,
  uniqueId,
} from './routes/support.js';

const { cvc: _, ...cardWithoutCvc } = card;

describe('expires_at is accepted in every format and returned in only one', () => {
  test.for([
    ['1/2/2030 3:04:05 PM +01:30', '2030-01-02T13:34:05.000+00:00'],
    ['1/2/2030 3:04:05 PM -14:00', '2030-01-03T05:04:05.000+00:00'],
    ['01/02/2030 03:04:05 AM', '2030-01-02T03:04:05.000+00:00'],
    ['12/31/2030 12:00:00 AM', '2030-12-31T00:00:00.000+00:00'],
    ['12/31/2030 12:00:00 PM', '2030-12-31T12:00:00.000+00:00'],
    ['2/29/2028', '2028-02-29T00:00:00.000+00:00'],
    ['2030-01-02', '2030-01-02T00:00:00.000+00:00'],
    ['2030-01-02T03:04', '2030-01-02T03:04:00.000+00:00'],
    ['2030-01-02T03:04:05', '2030-01-02T03:04:05.000+00:00'],
    ['2030-01-02T03:04:05Z', '2030-01-02T03:04:05.000+00:00'],
    ['2030-01-02T03:04:05.6789+02:00', '2030-01-02T01:04:05.678+00:00'],
    ['2030-01-02T03:04:05.000+00:00', '2030-01-02T03:04:05.000+00:00'],
    ['2026-01-31T12:00:00.001Z', '2026-01-31T12:00:00.001+00:00'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999+00:00'],
  ])('%s', async ([expires_at, expected], { service }) => {
    const { id, ...created } = await createPlain(service, { expires_at });
    expect(created['expires_at']).toBe(expected);
    const patched = await service.call('PATCH', path(id), { expires_at });
    expect(patched).toMatchObject({ status: 200, headers: { etag: '"0"' }, body: { expires_at: expected } });
  });
});

describe('an expired token no longer exists from its expiry on, even if the expiry is not recorded yet', () => {
  test('its id is free, the history continues, and its keys are destroyed', async ({ service }) => {
    const id = uniqueId();
    const before = await service.eventCount();
    const expiresAt = service.clock.now() + hourMs;
    const token = { id, type: 'card', data: card };
    await create(service, { ...token, expires_at: new Date(expiresAt).toISOString() });
    service.clock.advance(hourMs - 1);
    expect((await service.call('POST', '/tokens', token)).status, 'a millisecond before').toBe(409);
    service.clock.advance(1);
    const again = await service.call('POST', '/tokens', token);
    expect(again).toMatchObject({ status: 201, headers: { etag: '"2"' } });
    const [first, expired, second] = await streamSince(service, before);
    const keys = [first?.clear['key'], first?.clear['cvc_key']].map(String);
    expect(expired).toMatchObject({ type: 'token.expired', clear: { due_at: expiresAt, ends: keys } });
    expect(second).toMatchObject({ type: 'token.created', stream: first?.stream });
    for (const key of keys) {
      expect(await service.vault.keys.use(service.tenantId, key, () => null)).toEqual({ state: 'destroyed' });
    }
    expect(await read(service, id)).toEqual(again.body);
  });

  test('the sweep records the expiry once and destroys the keys', async ({ service }) => {
    const expiresAt = service.clock.now() + minuteMs;
    const before = await service.eventCount();
    await create(service, { type: 'card', data: card, expires_at: new Date(expiresAt).toISOString() });
    await service.service.sweep.run();
    service.clock.advance(minuteMs);
    expect(await service.service.sweep.run()).toBeGreaterThan(0);
    expect(await service.service.sweep.run()).toBe(0);
    const [made, ...others] = await streamSince(service, before);
    const ends = [made?.clear['key'], made?.clear['cvc_key']];
    const clear = { due_at: expiresAt, ends };
    expect(others).toEqual([{ type: 'token.expired', clear, actorId: 'system', stream: made?.stream }]);
    for (const key of ends.map(String)) {
      expect(await service.vault.keys.use(service.tenantId, key, () => null)).toEqual({ state: 'destroyed' });
    }
  });

  test('an expiry that was changed is not recorded at the old time', async ({ service }) => {
    const at = (ms: number) => new Date(service.clock.now() + ms).toISOString();
    const before = await service.eventCount();
    const { id } = await createPlain(service, { expires_at: at(minuteMs) });
    await service.call('PATCH', path(id), { expires_at: at(hourMs) });
    service.clock.advance(minuteMs);
    await service.service.sweep.run();
    const events = await streamSince(service, before);
    expect(events.map(({ type }) => type)).toEqual(['token.created', 'token.updated']);
    expect((await service.call('GET', path(id))).status).toBe(200);
  });
});

describe('a cvc is never returned more than one hour after it was written, even if the sweep never runs', () => {
  test('no route returns it, to the millisecond', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card, mask: { cvc: '{{ data.cvc }}', a: 'b' } });
    const masking = await service.application(['token:read', 'token:update']);
    service.clock.advance(hourMs - 1);
    expect((await read(service, id))['data']).toEqual(card);
    expect((await read(service, id, masking))['data']).toEqual({ cvc: '123', a: 'b' });
    service.clock.advance(1);
    expect((await read(service, id))['data']).toEqual(cardWithoutCvc);
    expect((await read(service, id, masking))['data']).toEqual({ a: 'b' });
    const patched = await service.call('PATCH', path(id), { metadata: { a: 'b' } });
    expect(patched.body['data']).toEqual(cardWithoutCvc);
    const duplicate = { type: 'card', data: { number: card.number }, deduplicate_token: true };
    const answers = [
      await service.call('POST', '/tokens', duplicate),
      await service.call('GET', path(id)),
      await service.call('GET', `/tokens?id=${encodeURIComponent(id)}`),
      await service.call('POST', '/tokens/search', { query: `id:"${id}"` }),
      await service.call('POST', '/tokenize', [duplicate]),
      await service.call('POST', '/detokenize', [`{{ ${id} }}`, `{{ token: ${id} }}`]),
    ];
    for (const { status, text } of answers) expect(status, text).toBeLessThan(300);
    for (const { text } of answers) expect(text).not.toContain('"123"');
  });

  test('a retry with an idempotency key does not return it', async ({ service }) => {
    const headers = { 'idempotency-key': uniqueId() };
    const body = { type: 'card', data: card };
    expect((await create(service, body, { headers }))['data']).toEqual(card);
    service.clock.advance(hourMs);
    expect((await create(service, body, { headers }))['data']).toEqual(cardWithoutCvc);
  });

  test('other changes never extend the hour', async ({ service }) => {
    const before = await service.eventCount();
    const { id } = await create(service, { type: 'card', data: card });
    const patches = [{ metadata: { a: 'b' } }, { data: { name: 'A' } }, { data: { number: '5555555555554444' } }, {}];
    for (const patch of patches) {
      service.clock.advance(10 * minuteMs);
      expect((await service.call('PATCH', path(id), patch)).body['data']).toHaveProperty('cvc', '123');
    }
    service.clock.advance(20 * minuteMs);
    expect((await read(service, id))['data']).not.toHaveProperty('cvc');
    const late = await service.call('PATCH', path(id), { metadata: { c: 'd' } });
    expect(late.body['data']).not.toHaveProperty('cvc');
    const events = await streamSince(service, before);
    const [made] = events;
    expect(events.at(-1)?.clear).toMatchObject({ cvc: 'removed', ends: [made?.clear['cvc_key']] });
    await service.service.sweep.run();
    expect((await streamSince(service, before)).length, 'nothing is left to purge').toBe(events.length);
  });

  test('a new cvc starts a new hour, even if its value is the same', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    for (const cvc of ['999', '999', 4321]) {
      service.clock.advance(50 * minuteMs);
      const { body } = await service.call('PATCH', path(id), { data: { cvc } });
      expect(body['data']).toHaveProperty('cvc', String(cvc));
    }
    service.clock.advance(hourMs - 1);
    expect((await read(service, id))['data']).toHaveProperty('cvc', '4321');
    service.clock.advance(1);
    expect((await read(service, id))['data']).not.toHaveProperty('cvc');
    const late = await service.call('PATCH', path(id), { data: { cvc: '777' } });
    expect(late.body['data']).toHaveProperty('cvc', '777');
  });

  test('null in a patch removes the cvc immediately', async ({ service }) => {
    const before = await service.eventCount();
    const { id } = await create(service, { type: 'card', data: card });
    const { body } = await service.call('PATCH', path(id), { data: { cvc: null } });
    expect(body['data']).toEqual(cardWithoutCvc);
    const [made, removed] = await streamSince(service, before);
    const key = String(made?.clear['cvc_key']);
    expect(removed?.clear).toMatchObject({ changed: ['data'], cvc: 'removed', key: made?.clear['key'], ends: [key] });
    expect(await service.vault.keys.use(service.tenantId, key, () => null)).toEqual({ state: 'destroyed' });
  });

  test('the sweep records the purge once and destroys only the key of the cvc', async ({ service }) => {
    const before = await service.eventCount();
    const { id } = await create(service, { type: 'card', data: card });
    const dueAt = service.clock.now() + hourMs;
    service.clock.advance(hourMs);
    await service.service.sweep.run();
    await service.service.sweep.run();
    const [made, ...purged] = await streamSince(service, before);
    const key = String(made?.clear['cvc_key']);
    const keeps = made?.clear['key'];
    const clear = { property: 'cvc', reason: 'due', due_at: dueAt, keeps, ends: [key] };
    expect(purged).toEqual([{ type: 'token.property.expired', clear, actorId: 'system', stream: made?.stream }]);
    const stateOf = async (one: string) => (await service.vault.keys.use(service.tenantId, one, () => null)).state;
    expect(await stateOf(key)).toBe('destroyed');
    expect(await stateOf(String(made?.clear['key']))).toBe('open');
    const after = await read(service, id);
    expect(after['data']).toEqual(cardWithoutCvc);
    expect(after, 'a purge is no modification by an application').not.toHaveProperty('modified_at');
  });

  test('if an expiry and a purge are due together, no key is left', async ({ service }) => {
    const before = await service.eventCount();
    const expires_at = new Date(service.clock.now() + hourMs).toISOString();
    await create(service, { type: 'card', data: card, expires_at });
    service.clock.advance(hourMs);
    await service.service.sweep.run();
    const [made, ...others] = await streamSince(service, before);
    const ends = others.flatMap(({ clear }) => clear['ends']);
    expect(ends.sort()).toEqual([made?.clear['key'], made?.clear['cvc_key']].sort());
    expect(others.at(-1)?.type).toBe('token.expired');
  });
});
