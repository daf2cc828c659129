import { describe, expect } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { rule } from '../../../support/test-service.js';
import { tokenize } from '../batch.js';
import { card, create, eventsSince, hourMs, path, read, test, uniqueId } from '../support.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('200 every value becomes a token, and the structure stays the same', () => {
  test('values, nulls, arrays, nested and empty parts, and keys keep their places', async ({ service }) => {
    const before = await service.eventCount();
    const body = {
      name: 'Ada',
      age: 36,
      member: false,
      nothing: null,
      list: ['x', ['y', null], {}, []],
      deep: { '{{ key }}': { '': '' } },
    };
    const answer = (await tokenize(service, body)) as Record<string, string>;
    const id = expect.stringMatching(uuid);
    expect(answer).toEqual({
      name: id,
      age: id,
      member: id,
      nothing: null,
      list: [id, [id, null], {}, []],
      deep: { '{{ key }}': { '': id } },
    });
    expect(Object.keys(answer)).toEqual(Object.keys(body));
    const kept = [
      [answer['name'], 'Ada'],
      [answer['age'], 36],
      [answer['member'], false],
    ] as const;
    for (const [token, data] of kept) expect(await read(service, `${token}`)).toMatchObject({ type: 'token', data });
    expect((await eventsSince(service, before)).map(({ type }) => type)).toEqual(Array(6).fill('token.created'));
  });

  test.for([
    ['a string', 'value'],
    ['a number', 8.99],
    ['a boolean', true],
    ['an empty string', ''],
    ['string that looks like an expression', '{{ data.number }}'],
  ] as const)('the body may be a single %s', async ([, data], { service }) => {
    const id = await tokenize(service, data);
    expect((await read(service, `${id}`))['data']).toBe(data);
  });

  test.for([
    ['null', null],
    ['an empty object', {}],
    ['nulls in arrays', [[null], { a: null }]],
  ] as const)('for %s, nothing is stored', async ([, body], { service }) => {
    const before = await service.eventCount();
    expect(await tokenize(service, body)).toEqual(body);
    expect(await service.eventCount()).toBe(before);
  });
});

describe('200 an object with type and data is a create request', () => {
  test('it is replaced by the token object that a create returns', async ({ service }) => {
    const id = uniqueId();
    const request = { id, type: 'card', data: card, metadata: { a: 'b' }, containers: ['/X/'], privacy: 'ignored' };
    const answer = (await tokenize(service, { deep: [request] })) as { deep: [JsonObject] };
    const { id: _, entity_ref: __, ...expected } = await create(service, { ...request, id: uniqueId() });
    expect(answer).toEqual({ deep: [{ ...expected, id, entity_ref: expect.stringMatching(/^[0-9a-f]{64}$/) }] });
    expect(await read(service, id)).toEqual(answer.deep[0]);
  });

  test('its contents are not tokenized, and an object with only one of the two keys is not a create request', async ({
    service,
  }) => {
    const before = await service.eventCount();
    const body = {
      a: { type: 'token', data: { type: 'card', data: ['x', 'y'] } },
      b: { type: 'token' },
      c: { data: 1 },
    };
    expect(await tokenize(service, body)).toMatchObject({
      a: { type: 'token', data: body.a.data },
      b: { type: expect.stringMatching(uuid) },
      c: { data: expect.stringMatching(uuid) },
    });
    expect(await service.eventCount()).toBe(before + 3);
  });

  test('the body itself may be a create request', async ({ service }) => {
    expect(await tokenize(service, { type: 'card_number', data: card.number })).toMatchObject({ data: card.number });
  });

  test('each token is shown under the transform of the rule that allowed the create', async ({ service }) => {
    const rules = (['reveal', 'mask', 'redact'] as const).map((transform) =>
      rule(`/${transform}/`, transform, ['token:create']),
    );
    const key = await service.application([...rules, rule('/general/', 'redact', ['token:create'])]);
    const parts = rules.map(({ container }) => ({ type: 'card_number', data: card.number, containers: [container] }));
    const [revealed, masked, redacted, id] = (await tokenize(service, [...parts, 'x'], { key })) as JsonObject[];
    expect(revealed).toMatchObject({ data: card.number });
    expect(masked).toMatchObject({ data: 'XXXXXXXXXXXX4242' });
    expect(redacted).not.toHaveProperty('data');
    expect(id).toMatch(uuid);
  });

  test('a public application may tokenize', async ({ service }) => {
    const key = await service.application(['token:create'], 'public');
    const answer = await tokenize(service, { type: 'card', data: card }, { key });
    expect(answer).toMatchObject({ data: { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 } });
  });

  test('the expiry of a token and the hour of a cvc apply as usual', async ({ service }) => {
    const expires_at = new Date(service.clock.now() + 2 * hourMs).toISOString();
    const ids = [uniqueId(), uniqueId()];
    await tokenize(
      service,
      ids.map((id) => ({ id, type: 'card', data: card, expires_at })),
    );
    service.clock.advance(hourMs);
    for (const id of ids) expect((await read(service, id))['data']).not.toHaveProperty('cvc');
    service.clock.advance(hourMs);
    for (const id of ids) expect((await service.call('GET', path(id))).status).toBe(404);
  });
});

describe('200 ids', () => {
  test('an id whose token has expired can be used, even before the sweep', async ({ service }) => {
    const expires_at = new Date(service.clock.now() + hourMs).toISOString();
    const ids = [uniqueId(), uniqueId()];
    await tokenize(
      service,
      ids.map((id) => ({ id, type: 'card', data: card, expires_at })),
    );
    service.clock.advance(hourMs);
    const before = await service.eventCount();
    await tokenize(
      service,
      ids.map((id) => ({ id, type: 'token', data: 'new' })),
    );
    const types = (await eventsSince(service, before)).map(({ type }) => type);
    expect(types).toEqual(['token.expired', 'token.created', 'token.expired', 'token.created']);
    await service.service.sweep.run();
    for (const id of ids) expect(await read(service, id)).toMatchObject({ data: 'new' });
  });

  test('random aliases that collide are drawn again; if all that are drawn are in use, a UUID becomes the id', async ({
    service,
  }) => {
    const prefix = uniqueId();
    const request = { type: 'token', data: '77', id: `${prefix}-{{ data | alias_preserve_format }}` };
    const answer = (await tokenize(service, Array(30).fill(request))) as { id: string }[];
    const ids = answer.map(({ id }) => id);
    expect(new Set(ids).size).toBe(30);
    for (const id of ids) expect(id).toMatch(new RegExp(`^${prefix}-\\d\\d$|${uuid.source}`));
    // Only ten aliases are possible, but there are twelve tokens.
    const full = `${uniqueId()}-{{ data | alias_preserve_format }}`;
    const twelve = (await tokenize(service, Array(12).fill({ ...request, data: '7', id: full }))) as { id: string }[];
    expect(twelve.map(({ id }) => id)).toContainEqual(expect.stringMatching(uuid));
  });

  test('100 tokens are allowed, even if the body has 4 MiB', async ({ service }) => {
    const before = await service.eventCount();
    const data = 'x'.repeat(40_000);
    const answer = (await tokenize(service, Array(100).fill(data))) as string[];
    expect(new Set(answer).size).toBe(100);
    expect(await service.eventCount()).toBe(before + 100);
  });
});
