import { describe, expect } from 'vitest';
import { create, createPlain, path, read, test, uniqueId } from '../support.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('201 the given id, under whose percent-encoded path the token is found', () => {
  test.for([
    'abc',
    '...',
    '   ',
    'a b',
    "it's",
    '"quoted"',
    'a:b;c,d',
    '@!$*()',
    'A.b-c_d~e',
    'a`b',
    'über',
    '日本語',
    '💳💳💳',
    'e\u0301e\u0301e\u0301',
    '\u202eabc',
    'cvc',
    'search',
    'a'.repeat(400),
    '💳'.repeat(400),
  ])('%s', async (id, { service }) => {
    const created = await service.call('POST', '/tokens', { id, type: 'token', data: 1 });
    expect(created.status, created.text).toBe(201);
    expect(created.headers['location']).toBe(path(id));
    expect((await read(service, id)).id).toBe(id);
    const escaped = [...Buffer.from(id)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    expect((await service.call('GET', `/tokens/${escaped}/`)).body).toEqual(created.body);
    expect((await service.call('DELETE', `${path(id)}/cvc`)).status).toBe(400);
    expect((await service.call('DELETE', path(id))).status).toBe(204);
  });

  test('ids that differ in case or Unicode composition are different', async ({ service }) => {
    const id = uniqueId('É');
    await createPlain(service, { id });
    await createPlain(service, { id: id.toLowerCase() });
    await createPlain(service, { id: id.normalize('NFD') });
  });
});

describe('201 an id from an expression over the data', () => {
  test.for([
    ['{{ data.name }}', 'name-1'],
    ['customer-{{ data.number }}-{{ data.yes }}', 'customer-77-true'],
    ['{{ data.number | pad_left: 6, "0" }}', '000077'],
    ['{{ data.big }}', '123456'],
    ['{{ data.yes }}', 'true'],
  ])('%s', async ([id, expected], { service }) => {
    const data = { name: 'name-1', number: 77, yes: true, big: 123456 };
    expect(await create(service, { id, type: 'token', data })).toMatchObject({ id: expected });
  });

  test('the expression is evaluated only once, so a later change to the data does not change the id', async ({
    service,
  }) => {
    const name = uniqueId();
    const { id } = await create(service, { id: '{{ data.name }}', type: 'token', data: { name } });
    expect(id).toBe(name);
    const updated = await service.call('PATCH', path(id), { data: { name: 'other' } });
    expect(updated).toMatchObject({ status: 200, body: { id: name } });
  });

  test.for([
    ['alias_card: true, true', /^42424242\d{4}4242$/],
    ["alias_card: 'true'", /^42424242\d{8}$/],
    ['alias_preserve_format: 4', /^4242\d{12}$/],
    ['alias_preserve_length: 2, 2', /^42[a-z0-9]{12}42$/],
  ] as const)('a random alias: %s', async ([filter, shape], { service }) => {
    const token = { id: `{{ data | ${filter} }}`, type: 'token', data: '4242424242424242' };
    const one = await create(service, token);
    const other = await create(service, token);
    expect(one.id).toMatch(shape);
    expect(other.id).toMatch(shape);
    expect(other.id).not.toBe(one.id);
  });

  test('a random alias that equals the value itself is drawn again', async ({ service }) => {
    // Only one digit of the alias is random, so one alias in ten is equal to the account number.
    const token = { id: '{{ data | alias_preserve_format: 5, 4 }}', type: 'us_bank_account_number' };
    for (let i = 0; i < 30; i += 1) {
      const { id } = await create(service, { ...token, data: '9081726354' });
      expect(id).not.toBe('9081726354');
    }
  });

  test('if every random alias that is drawn is in use, a UUID becomes the id', async ({ service }) => {
    // Only ten ids are possible. Once all ten are in use, a create request draws ten times without success.
    const id = `${uniqueId()}-{{ data | alias_preserve_format }}`;
    const ids: string[] = [];
    for (let i = 0; i < 40; i += 1) ids.push((await create(service, { id, type: 'token', data: '5' })).id);
    expect(new Set(ids).size).toBe(40);
    const drawn = ids.filter((one) => !uuid.test(one));
    expect(drawn.length).toBeGreaterThan(0);
    expect(drawn.length).toBeLessThanOrEqual(10);
  });
});

test('a random UUID that is in use does not take over the other token, although the stream is not read before the append', async ({
  service,
}) => {
  const { random } = service.vault;
  const taken = random.uuid();
  await create(service, { id: taken, type: 'token', data: 'first' });
  const { uuid: drawn } = random;
  const asked: string[] = [];
  Object.assign(random, {
    uuid: () => {
      asked.push(asked.length === 0 ? taken : drawn());
      return asked.at(-1);
    },
  });
  try {
    const { id } = await create(service, { type: 'token', data: 'second' });
    expect(id).not.toBe(taken);
    expect(asked).toContain(id);
    expect(await read(service, id)).toMatchObject({ data: 'second' });
  } finally {
    Object.assign(random, { uuid: drawn });
  }
  expect(await read(service, taken)).toMatchObject({ data: 'first' });
});

describe('201 an id that can be used again', () => {
  test('after a deletion, and the history continues', async ({ service }) => {
    const { id } = await createPlain(service, { data: 'first' });
    await service.call('DELETE', path(id));
    const again = await service.call('POST', '/tokens', { id, type: 'token', data: 'second' });
    expect(again).toMatchObject({ status: 201, headers: { etag: '"2"' }, body: { data: 'second' } });
    expect(await read(service, id)).toEqual(again.body);
  });

  test('that only another tenant’s token has', async ({ service }) => {
    const { id } = await createPlain(service);
    const key = await service.otherTenant();
    expect(await create(service, { id, type: 'token', data: 2 }, { key })).toMatchObject({ id, data: 2 });
    expect(await read(service, id)).toMatchObject({ data: 'value' });
  });
});
