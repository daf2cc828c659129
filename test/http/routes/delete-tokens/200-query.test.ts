import { describe, expect } from 'vitest';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { rule, type TestService } from '../../../support/test-service.js';
import { create, createPlain, path, read, test, uniqueId } from '../support.js';

async function remove(service: TestService, query: string, key?: string) {
  const answer = await service.call('POST', '/tokens/delete', { query }, key === undefined ? {} : { key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Creates tokens for one person, one in each of these containers. */
async function personWith(service: TestService, containers: readonly string[]) {
  const person = uniqueId('person');
  const ids: string[] = [];
  for (const container of containers) {
    const { id } = await createPlain(service, { metadata: { person }, containers: [container] });
    ids.push(id);
  }
  return { query: `metadata.person:"${person}"`, ids };
}

describe('200 tokens are deleted by a query', () => {
  test('all tokens of one person are deleted, and no others', async ({ service }) => {
    const { query, ids } = await personWith(service, ['/a/', '/b/', '/general/high/']);
    const other = await createPlain(service, { metadata: { person: 'another' } });
    expect(await remove(service, query)).toEqual({ deleted: 3, refused: 0, remaining: 0 });
    for (const id of ids) expect((await service.call('GET', path(id))).status).toBe(404);
    expect(await read(service, other.id)).toEqual(other);
    expect(await remove(service, query)).toEqual({ deleted: 0, refused: 0, remaining: 0 });
  });

  test('the tokens that the caller may search and delete are deleted; others are counted as refused and kept', async ({
    service,
  }) => {
    const { query, ids } = await personWith(service, ['/a/', '/b/', '/c/', '/a/x/', '/c/']);
    const key = await service.application([
      rule('/a/', 'redact', ['token:search', 'token:delete']),
      rule('/b/', 'reveal', ['token:search', 'token:read']),
      rule('/c/', 'reveal', ['token:delete', 'token:read']),
    ]);
    expect(await remove(service, query, key)).toEqual({ deleted: 2, refused: 1, remaining: 0 });
    expect(await remove(service, query, key)).toEqual({ deleted: 0, refused: 1, remaining: 0 });
    const left = await Promise.all(ids.map(async (id) => (await service.call('GET', path(id))).status));
    expect(left).toEqual([404, 200, 200, 404, 200]);
  });

  test('another tenant’s tokens are never deleted', async ({ service }) => {
    const { query, ids } = await personWith(service, ['/a/']);
    const key = await service.otherTenant();
    expect(await remove(service, query, key)).toEqual({ deleted: 0, refused: 0, remaining: 0 });
    expect(await remove(service, 'container:/*', key)).toEqual({ deleted: 0, refused: 0, remaining: 0 });
    await read(service, ids[0] ?? '');
  });

  test('at most 1,000 tokens are deleted per request, and the others remain for the next request', async ({
    service,
  }) => {
    const container = `/${uniqueId()}/`;
    const part = { type: 'token', data: 1, containers: [container] };
    const oldest = await create(service, { ...part, containers: [container, '/old/'] });
    for (let i = 0; i < 11; i += 1) await service.call('POST', '/tokenize', Array(i < 10 ? 100 : 7).fill(part));
    const stays = await create(service, { ...part, containers: [container, '/kept/'] });
    const key = await service.application([
      rule(
        '/',
        'reveal',
        tokenPermissions.filter((permission) => permission !== 'token:delete'),
      ),
      rule(container, 'reveal', ['token:delete']),
    ]);
    const query = `container:${container} AND NOT id:${stays.id}`;
    // If the tokens that a caller may not delete took up the 1,000, no number of calls would delete the oldest token.
    const keyForOldest = await service.application([
      rule('/', 'reveal', ['token:search']),
      rule('/old/', 'reveal', ['token:delete']),
    ]);
    expect(await remove(service, query, keyForOldest)).toEqual({ deleted: 1, refused: 1_007, remaining: 0 });
    expect((await service.call('GET', path(oldest.id))).status).toBe(404);
    expect(await remove(service, query, key)).toEqual({ deleted: 1_000, refused: 0, remaining: 7 });
    expect(await remove(service, query, key)).toEqual({ deleted: 7, refused: 0, remaining: 0 });
    expect(await read(service, stays.id)).toEqual(stays);
  });
});
