import { describe, expect } from 'vitest';
import { holdKeys } from '../support/hold-keys.js';
import { card, create, expectRefusal, path, refusal, test, uniqueId } from './routes/support.js';

const unavailable = { status: 503, code: 'store_unavailable', paths: [] };

describe('503 while keys cannot be destroyed', () => {
  test.for(['', '/cvc'])('DELETE /tokens/{id}%s: a retry finishes the erasure', async (suffix, { service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const before = await service.eventCount();
    const release = holdKeys(service);
    const first = await service.call('DELETE', path(id) + suffix);
    expect(refusal(first), first.text).toEqual(unavailable);
    expect(first.headers['retry-after']).toBe('1');
    release();
    expect((await service.call('DELETE', path(id) + suffix)).status).toBe(204);
    expect(await service.eventCount(), 'one event for both').toBe(before + 1);
    if (suffix !== '') return;
    const again = () => service.call('DELETE', path(id));
    await expectRefusal(service, again, { status: 404, code: 'token_not_found' });
  });

  test('a retry of an update with the same idempotency key finishes the erasure and does not repeat the change', async ({
    service,
  }) => {
    const { id } = await create(service, { type: 'token', data: 'old' });
    const headers = { 'idempotency-key': uniqueId() };
    const before = await service.eventCount();
    const release = holdKeys(service);
    const update = () => service.call('PATCH', path(id), { data: 'new' }, { headers });
    expect(refusal(await update())).toEqual(unavailable);
    release();
    expect(await update()).toMatchObject({ status: 200, headers: { etag: '"1"' }, body: { data: 'new' } });
    expect(await service.eventCount()).toBe(before + 1);
  });
});
