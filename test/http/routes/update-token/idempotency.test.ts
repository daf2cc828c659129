import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import {
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

describe('an update with an idempotency key happens once', () => {
  test('a retry gets the token as it is at that time and changes nothing, whatever its body is', async ({
    service,
  }) => {
    const { id } = await createPlain(service);
    const headers = { 'service-idempotency-key': uniqueId() };
    const first = await service.call('PATCH', path(id), { data: 'first' }, { headers });
    expect(first).toMatchObject({ status: 200, body: { data: 'first' } });
    await service.call('PATCH', path(id), { data: 'second' });
    const before = await service.eventCount();
    const again = await service.call('PATCH', `${path(id)}/`, { data: 'third' }, { headers });
    expect(again).toMatchObject({ status: 200, headers: { etag: '"2"' }, body: { data: 'second' } });
    expect(await service.eventCount()).toBe(before);
  });

  test('an update that changes nothing is recorded as well', async ({ service }) => {
    const { id } = await createPlain(service);
    const headers = { 'service-idempotency-key': uniqueId() };
    await service.call('PATCH', path(id), {}, { headers });
    const again = await service.call('PATCH', path(id), { data: 'x' }, { headers });
    expect(again).toMatchObject({ status: 200, headers: { etag: '"0"' } });
  });

  test('409 while the first request is still running', async ({ service }) => {
    const { id } = await createPlain(service);
    const headers = { 'service-idempotency-key': uniqueId() };
    const send = () => service.call('PATCH', path(id), { data: 'x' }, { headers });
    const answers = await sendDuringFirst(service, send);
    expect(answers).toMatchObject([{ status: 200 }, { status: 409, body: { code: 'idempotency_in_flight' } }]);
  });

  test('the key of another token is independent', async ({ service }) => {
    const headers = { 'service-idempotency-key': uniqueId() };
    const [one, other] = [await createPlain(service), await createPlain(service)];
    await service.call('PATCH', path(one.id), { data: 'x' }, { headers });
    await service.call('PATCH', path(other.id), { data: 'y' }, { headers });
    expect(await read(service, other.id)).toMatchObject({ data: 'y' });
  });

  test('only successes are recorded', async ({ service }) => {
    const { id } = await createPlain(service);
    const headers = { 'service-idempotency-key': uniqueId() };
    const wrong = () => service.call('PATCH', path(id), { type: 'card' }, { headers });
    await expectRefusal(service, wrong, invalid('type'));
    expect((await service.call('PATCH', path(id), { data: 'x' }, { headers })).body['data']).toBe('x');
  });

  test('the caller’s current rules apply to a retry', async ({ service }) => {
    const { id } = await createPlain(service, { containers: ['/a/'] });
    const headers = { 'service-idempotency-key': uniqueId() };
    const key = await service.application([rule('/a/', 'reveal', ['token:update'])]);
    await service.call('PATCH', path(id), { data: 'x' }, { headers, key });
    await service.call('PATCH', path(id), { containers: ['/b/'] });
    const again = () => service.call('PATCH', path(id), { data: 'x' }, { headers, key });
    await expectRefusal(service, again, { status: 403, code: 'forbidden' });
  });

  test('404 if the token no longer exists; after 24 hours, the key counts as new', async ({ service }) => {
    const { id } = await createPlain(service);
    const { id: kept } = await createPlain(service);
    const headers = { 'service-idempotency-key': uniqueId() };
    for (const one of [id, kept]) await service.call('PATCH', path(one), { data: 'x' }, { headers });
    await service.call('DELETE', path(id));
    const again = () => service.call('PATCH', path(id), { data: 'x' }, { headers });
    await expectRefusal(service, again, { status: 404, code: 'idempotent_result_gone' });
    service.clock.advance(24 * hourMs + 1);
    expect((await service.call('PATCH', path(kept), { data: 'y' }, { headers })).body['data']).toBe('y');
  });
});
