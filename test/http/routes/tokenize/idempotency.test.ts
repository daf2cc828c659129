import { describe, expect } from 'vitest';
import type { Json, JsonObject } from '#src/domain/json.js';
import { rule } from '../../../support/test-service.js';
import { tokenize } from '../batch.js';
import { card, expectRefusal, hourMs, path, sendDuringFirst, test, uniqueId } from '../support.js';

const keyed = (key = uniqueId()) => ({ headers: { 'service-idempotency-key': key } });
const body = { a: 'x', b: [{ type: 'card_number', data: card.number }, null, 3] };
const shape = { status: 409, code: 'idempotent_shape_differs' };

describe('a tokenize with an idempotency key happens once', () => {
  test('a retry gets the tokens of the first request, in its own structure', async ({ service }) => {
    const options = keyed();
    const first = (await tokenize(service, body, options)) as { a: string; b: [JsonObject, null, string] };
    const before = await service.eventCount();
    expect(await tokenize(service, body, options)).toEqual(first);
    const other = ['1', { type: 'token', data: 'other' }, { z: [true] }];
    expect(await tokenize(service, other, options)).toEqual([first.a, first.b[0], { z: [first.b[2]] }]);
    expect(await service.eventCount()).toBe(before);
  });

  test.for([
    ['fewer values', ['x', 'y']],
    ['more values', ['x', 'y', 'z', 1]],
    ['none', {}],
  ] as const)('a retry with %s returns 409', async ([, other], { service }) => {
    const options = keyed();
    await tokenize(service, body, options);
    await expectRefusal(service, () => service.call('POST', '/tokenize', other, options), shape);
    expect(await tokenize(service, body, options)).toMatchObject({
      b: [{ type: 'card_number' }, null, expect.any(String)],
    });
  });

  test('a request without values is recorded as well', async ({ service }) => {
    const options = keyed();
    expect(await tokenize(service, { a: null }, options)).toEqual({ a: null });
    await expectRefusal(service, () => service.call('POST', '/tokenize', ['x'], options), shape);
  });

  test('a retry marks the same tokens as duplicates', async ({ service }) => {
    const options = keyed();
    const part = { type: 'card', data: { ...card, cvc: '777' }, deduplicate_token: true };
    const parts = [{ ...part, deduplicate_token: false }, part, part];
    const first = await tokenize(service, parts, options);
    expect(first).toMatchObject([{}, { _extras: { deduplicated: true, cvc_ignored: true } }, {}]);
    expect(await tokenize(service, parts, options)).toEqual(first);
  });

  test('404 if one of its tokens no longer exists', async ({ service }) => {
    const options = keyed();
    const { a } = (await tokenize(service, body, options)) as { a: string };
    await service.call('DELETE', path(a));
    const gone = { status: 404, code: 'idempotent_result_gone' };
    await expectRefusal(service, () => service.call('POST', '/tokenize', body, options), gone);
  });

  test('the caller’s current rules apply', async ({ service }) => {
    const key = await service.application([rule('/a/', 'reveal', ['token:create'])]);
    const parts = [{ type: 'token', data: 1, containers: ['/a/'] }];
    const options = { key, ...keyed() };
    const [token] = (await tokenize(service, parts, options)) as [{ id: string }];
    await service.call('PATCH', path(token.id), { containers: ['/b/'] });
    const again = () => service.call('POST', '/tokenize', parts, options);
    await expectRefusal(service, again, { status: 403, code: 'forbidden' });
  });

  test('409 while the first request runs; after 24 hours, the key counts as new', async ({ service }) => {
    const options = keyed();
    const answers = await sendDuringFirst(service, () => service.call('POST', '/tokenize', body, options));
    expect(answers).toMatchObject([{ status: 200 }, { status: 409, body: { code: 'idempotency_in_flight' } }]);
    const first = (await tokenize(service, body, options)) as Record<string, Json>;
    service.clock.advance(24 * hourMs + 1);
    const next = (await tokenize(service, body, options)) as Record<string, Json>;
    expect(next['a']).not.toBe(first['a']);
  });
});
