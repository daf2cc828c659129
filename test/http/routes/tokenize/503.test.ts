import { describe, expect, vi } from 'vitest';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { tokenize } from '../batch.js';
import { card, expectRefusal, path, test, uniqueId } from '../support.js';

describe('503 if a store fails, no readable data remains, and every id is free', () => {
  test('while the change is stored, and then a retry with the same idempotency key succeeds', async ({ service }) => {
    const ids = [uniqueId(), uniqueId(), uniqueId()];
    const body = ids.map((id) => ({ id, type: 'card', data: card }));
    const headers = { 'service-idempotency-key': uniqueId() };
    const { commit } = service.vault.work;
    const failing = vi.spyOn(service.vault.work, 'commit').mockImplementationOnce(async (change) => {
      // This is the worst case: the store first attempts all other writes, and then fails on this one.
      const [first, ...others] = change.writes;
      if (first === undefined) throw new Error('nothing to store');
      const { outcome } = await commit({ ...change, writes: [...others, { ...first, expectedRevision: 7 }] });
      expect(outcome).toBe('conflict');
      throw new StoreUnavailable('vault.db', 'full');
    });
    const send = () => service.call('POST', '/tokenize', body, { headers });
    const answer = await expectRefusal(service, send, { status: 503, code: 'store_unavailable' });
    failing.mockRestore();
    expect(answer.headers['retry-after']).toBeDefined();
    for (const id of ids) expect((await service.call('GET', path(id))).status).toBe(404);
    expect(await tokenize(service, body, { headers })).toMatchObject(ids.map((id) => ({ id, data: card })));
  });

  test('while the keys are created', async ({ service }) => {
    const id = uniqueId();
    const { create } = service.vault.keys;
    let made = 0;
    const failing = vi.spyOn(service.vault.keys, 'create').mockImplementation((tenantId) => {
      made += 1;
      return made < 3 ? create(tenantId) : Promise.reject(new StoreUnavailable('keys.db', 'full'));
    });
    const body = [{ id, type: 'token', data: 1 }, 'a', 'b', 'c'];
    const unavailable = { status: 503, code: 'store_unavailable' };
    await expectRefusal(service, () => service.call('POST', '/tokenize', body), unavailable);
    failing.mockRestore();
    expect((await service.call('GET', path(id))).status).toBe(404);
    await tokenize(service, body);
  });
});
