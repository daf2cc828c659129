import { describe, expect, vi } from 'vitest';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { rule } from '../../../support/test-service.js';
import { card, create, eventsSince, hourMs, path, read, test } from '../support.js';

describe('204 the cvc is removed immediately', () => {
  test('its key is destroyed, and the rest of the card stays', async ({ service }) => {
    const before = await service.eventCount();
    const created = await create(service, { type: 'card', data: card });
    const answer = await service.call('DELETE', `${path(created.id)}/cvc/`);
    expect(answer).toMatchObject({ status: 204, text: '' });
    const { cvc: _, ...data } = card;
    expect(await read(service, created.id)).toEqual({ ...created, data });
    const [made, purged] = await eventsSince(service, before);
    const key = String(made?.clear['cvc_key']);
    expect(purged?.type).toBe('token.property.expired');
    const dueAt = service.clock.now() + hourMs;
    const keeps = made?.clear['key'];
    const times = { property: 'cvc', reason: 'request', due_at: dueAt };
    expect(purged?.clear).toEqual({ ...times, keeps, ends: [key] });
    expect(await service.vault.keys.use(service.tenantId, key, () => null)).toEqual({ state: 'destroyed' });
  });

  test('a purge appends nothing if the cvc no longer exists or never existed', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const never = await create(service, { type: 'card', data: { number: card.number } });
    await service.call('DELETE', `${path(id)}/cvc`);
    const before = await service.eventCount();
    for (const one of [id, never.id]) expect((await service.call('DELETE', `${path(one)}/cvc`)).status).toBe(204);
    expect(await service.eventCount()).toBe(before);
  });

  test('an application that may update tokens but may not see their data can purge the cvc', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const key = await service.application([rule('/pci/', 'redact', ['token:update'])]);
    expect((await service.call('DELETE', `${path(id)}/cvc`, undefined, { key })).status).toBe(204);
    expect((await read(service, id))['data']).not.toHaveProperty('cvc');
  });

  test('if the key could not be destroyed, the response is 503, and a retry destroys the key', async ({ service }) => {
    const before = await service.eventCount();
    const { id } = await create(service, { type: 'card', data: card });
    const [made] = await eventsSince(service, before);
    const { keys } = service.vault;
    const failing = vi.spyOn(keys, 'destroy').mockRejectedValue(new StoreUnavailable('keys.db', 'busy'));
    for (const _ of [1, 2]) expect((await service.call('DELETE', `${path(id)}/cvc`)).status).toBe(503);
    failing.mockRestore();
    expect((await service.call('DELETE', `${path(id)}/cvc`)).status).toBe(204);
    const key = String(made?.clear['cvc_key']);
    expect(await keys.use(service.tenantId, key, () => null)).toEqual({ state: 'destroyed' });
  });

  test('a new cvc may be set afterwards', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    await service.call('DELETE', `${path(id)}/cvc`);
    await service.call('PATCH', path(id), { data: { cvc: '999' } });
    expect((await read(service, id))['data']).toEqual({ ...card, cvc: '999' });
  });

  test.for(['"0"', '*'])('If-Match %s', async (ifMatch, { service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const headers = { 'if-match': ifMatch };
    expect((await service.call('DELETE', `${path(id)}/cvc`, undefined, { headers })).status).toBe(204);
  });
});
