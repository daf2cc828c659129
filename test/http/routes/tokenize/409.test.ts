import { describe, expect } from 'vitest';
import { createPlain, expectRefusal, path, read, test, uniqueId } from '../support.js';

const inUse = (...paths: string[]) => ({ status: 409, code: 'id_in_use', paths });

describe('409 an id is in use, and nothing is created', () => {
  test('by a live token, which stays unchanged', async ({ service }) => {
    const token = await createPlain(service);
    const id = uniqueId();
    const body = { a: { type: 'token', data: 1, id }, b: ['x', { type: 'token', data: 2, id: token.id }] };
    await expectRefusal(service, () => service.call('POST', '/tokenize', body), inUse('b[1].id'));
    expect(await read(service, token.id)).toEqual(token);
    expect((await service.call('GET', path(id))).status).toBe(404);
    await createPlain(service, { id });
  });

  test('by an earlier part of the same request', async ({ service }) => {
    const id = uniqueId();
    const part = { type: 'token', data: 1, id };
    await expectRefusal(service, () => service.call('POST', '/tokenize', [part, part]), inUse('[1].id'));
    const computed = { type: 'token', data: { id }, id: '{{ data.id }}' };
    await expectRefusal(service, () => service.call('POST', '/tokenize', { a: computed, b: part }), inUse('b.id'));
    expect((await service.call('GET', path(id))).status).toBe(404);
  });
});
