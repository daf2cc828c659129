import { describe, expect } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { tokenize } from '../batch.js';
import { card, createPlain, read, test, uniqueId } from '../support.js';

const equal = (data: string, more: object = {}) => ({ type: 'token', data, deduplicate_token: true, ...more });

describe('200 with deduplication on', () => {
  test('equal parts of one request become one token, and the later parts are marked as duplicates', async ({
    service,
  }) => {
    const data = uniqueId();
    const before = await service.eventCount();
    const [first, ...others] = (await tokenize(service, [equal(data), equal(data), [equal(data)]].flat())) as [
      JsonObject,
      ...JsonObject[],
    ];
    expect(first).not.toHaveProperty('_extras');
    for (const other of others) expect(other).toEqual({ ...first, _extras: { deduplicated: true } });
    expect(await service.eventCount()).toBe(before + 1);
  });

  test('a part that equals a stored token returns that token, even if the given id is in use', async ({ service }) => {
    const stored = await createPlain(service, { data: uniqueId() });
    const taken = await createPlain(service);
    const before = await service.eventCount();
    const body = [equal(String(stored['data']), { id: taken.id }), equal(uniqueId())];
    const [found, made] = (await tokenize(service, body)) as JsonObject[];
    expect(found).toEqual({ ...stored, _extras: { deduplicated: true } });
    expect(made).not.toHaveProperty('_extras');
    expect(await service.eventCount()).toBe(before + 1);
  });

  test('two parts with the same id and the same value become one token', async ({ service }) => {
    const [data, id] = [uniqueId(), uniqueId()];
    const answer = await tokenize(service, [equal(data, { id }), equal(data, { id })]);
    expect(answer).toMatchObject([{ id }, { id, _extras: { deduplicated: true } }]);
  });

  test('the cvc of a later part is ignored, and the response says so', async ({ service }) => {
    const number = '5555555555554444';
    const parts = ['111', '999'].map((cvc) => ({
      type: 'card',
      data: { ...card, number, cvc },
      deduplicate_token: true,
    }));
    const [first, second] = (await tokenize(service, parts)) as JsonObject[];
    expect(first).toMatchObject({ data: { cvc: '111' } });
    expect(second).toEqual({ ...first, _extras: { deduplicated: true, cvc_ignored: true } });
  });

  test('a caller that may not read the duplicate gets only the fields that identify it', async ({ service }) => {
    const key = await service.application(['token:create'], 'public');
    const data = uniqueId();
    const [first, second] = (await tokenize(service, [equal(data), equal(data)], { key })) as [JsonObject, JsonObject];
    const { id, type, tenant_id, fingerprint, containers } = first;
    expect(second).toEqual({ id, type, tenant_id, fingerprint, containers, _extras: { deduplicated: true } });
  });

  test('a part without deduplication becomes a separate token, and the next part with deduplication finds that token, as the next request does', async ({
    service,
  }) => {
    const data = uniqueId();
    const parts = [equal(data), { type: 'token', data }, equal(data)];
    const [first, second, third] = (await tokenize(service, parts)) as JsonObject[];
    expect(second?.['id']).not.toBe(first?.['id']);
    expect(third?.['id']).toBe(second?.['id']);
    expect(await tokenize(service, equal(data))).toMatchObject({ id: second?.['id'] });
  });
});

describe('200 with concurrent requests', () => {
  test('many requests with the same values create one token per value', async ({ service }) => {
    const values = [uniqueId('a'), uniqueId('b'), uniqueId('c')];
    const before = await service.eventCount();
    const bodies = Array.from({ length: 24 }, (_, i) => values.slice(i % 3).map((data) => equal(data)));
    bodies.push(...bodies.map((body) => [...body].reverse()));
    const answers = await Promise.all(bodies.map((body) => tokenize(service, body)));
    const ids = new Map<unknown, Set<unknown>>();
    for (const token of answers.flat() as JsonObject[]) {
      ids.set(token['data'], (ids.get(token['data']) ?? new Set()).add(token['id']));
    }
    for (const data of values) expect(ids.get(data)?.size, data).toBe(1);
    expect(await service.eventCount()).toBe(before + values.length);
  });

  test('requests that name the same ids in opposite orders do not wait for each other', async ({ service }) => {
    const ids = Array.from({ length: 10 }, () => uniqueId());
    const body = ids.map((id) => ({ id, type: 'token', data: 1 }));
    const send = (parts: object[]) => service.call('POST', '/tokenize', parts);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => send(i % 2 ? body : [...body].reverse())));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    for (const id of ids) await read(service, id);
  });
});
