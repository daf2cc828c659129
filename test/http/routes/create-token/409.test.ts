import { describe, expect } from 'vitest';
import { create, createPlain, expectRefusal, path, read, test, uniqueId } from '../support.js';

const inUse = { status: 409, code: 'id_in_use' };

describe('409 the id is in use', () => {
  test('by a live token, which stays unchanged', async ({ service }) => {
    const token = await createPlain(service);
    const send = () => service.call('POST', '/tokens', { id: token.id, type: 'token', data: 'other' });
    await expectRefusal(service, send, inUse);
    expect(await read(service, token.id)).toEqual(token);
  });

  test('as the result of an expression without randomness', async ({ service }) => {
    const token = { id: '{{ data.name }}', type: 'token', data: { name: uniqueId() } };
    await create(service, token);
    await expectRefusal(service, () => service.call('POST', '/tokens', token), inUse);
  });

  test('by a token that the caller may not read, and the response contains no details about that token', async ({
    service,
  }) => {
    const { id } = await createPlain(service);
    const key = await service.application(['token:create'], 'public');
    const send = () => service.call('POST', '/tokens', { id, type: 'token', data: 1 }, { key });
    const { body } = await expectRefusal(service, send, inUse);
    expect(body).not.toHaveProperty('errors');
  });

  test('for all but one of many concurrent creates with the same id', async ({ service }) => {
    const id = uniqueId();
    const before = await service.eventCount();
    const sent = Array.from({ length: 20 }, (_, i) => service.call('POST', '/tokens', { id, type: 'token', data: i }));
    const answers = await Promise.all(sent);
    const won = answers.filter(({ status }) => status === 201);
    expect(won.length, JSON.stringify(answers.map(({ status }) => status))).toBe(1);
    expect(answers.filter(({ status }) => status === 409).length).toBe(19);
    expect(await service.eventCount()).toBe(before + 1);
    expect(await read(service, id)).toEqual(won[0]?.body);
  });

  test('a deleted token’s id is not in use', async ({ service }) => {
    const { id } = await createPlain(service);
    await service.call('DELETE', path(id));
    await createPlain(service, { id });
  });
});
