import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/test-service.js';
import { endOfRebuild, rebuildTokens } from './support.js';

type Known = { readonly id: string; readonly word: string; readonly n: number };

async function create({ call }: TestService, group: string): Promise<Known> {
  const known = { id: `id-${randomUUID()}`, word: `w${randomUUID().replaceAll('-', '')}`, n: 0 };
  const body = { ...known, type: 'token', data: known.word, metadata: { group, word: known.word, n: '0' } };
  const { word: _, n: __, ...request } = body;
  const { status, text } = await call('POST', '/tokens', { ...request, search_indexes: ['{{ data }}'] });
  expect(status, text).toBe(201);
  return known;
}

async function found({ call }: TestService, query: string): Promise<{ ids: string[]; total: number }> {
  const { status, body, text } = await call('POST', '/tokens/search', { query, size: 100 });
  expect(status, text).toBe(200);
  const { data, pagination } = body as unknown as { data: { id: string }[]; pagination: { total_items: number } };
  return { ids: data.map(({ id }) => id).sort(), total: pagination.total_items };
}

/**
 * One caller with tokens of its own, which nobody else changes: so at each moment it knows what get, search and count have
 * to answer.
 */
async function loaded(service: TestService, group: string, goesOn: () => boolean): Promise<number> {
  const { call } = service;
  const mine = new Map<string, Known>();
  let rounds = 0;
  for (; goesOn(); rounds += 1) {
    const made = await create(service, group);
    mine.set(made.id, made);
    const some = [...mine.values()][rounds % mine.size] as Known;
    const word = `w${randomUUID().replaceAll('-', '')}`;
    const changed = { ...some, word, n: some.n + 1 };
    const patch = { data: word, metadata: { group, word, n: String(changed.n) } };
    expect((await call('PATCH', `/tokens/${some.id}`, patch)).status).toBe(200);
    mine.set(some.id, changed);
    expect((await call('GET', `/tokens/${some.id}`)).body).toMatchObject({ data: word });
    expect(await found(service, `data:${word}`)).toEqual({ ids: [some.id], total: 1 });
    expect(await found(service, `data:${some.word}`)).toEqual({ ids: [], total: 0 });
    if (rounds % 3 === 2) {
      const [gone] = mine.keys();
      expect((await call('DELETE', `/tokens/${gone}`)).status).toBe(204);
      mine.delete(String(gone));
      expect((await call('GET', `/tokens/${gone}`)).status).toBe(404);
    }
    expect(await found(service, `metadata.group:${group}`)).toEqual({ ids: [...mine.keys()].sort(), total: mine.size });
    await nextTurn();
  }
  for (const { id, word } of mine.values()) {
    expect((await call('GET', `/tokens/${id}`)).body).toMatchObject({ data: word });
    expect(await found(service, `data:${word}`)).toEqual({ ids: [id], total: 1 });
  }
  return rounds;
}

test('under load no read, list or search is wrong or misses anything while rows are rebuilt, again and again', async () => {
  const service = await startTestService();
  const before = await Promise.all(Array.from({ length: 40 }, () => create(service, 'before')));
  const ids = before.map(({ id }) => id).sort();
  let going = true;
  const callers = ['a', 'b', 'c'].map((group) => loaded(service, group, () => going));
  const looker = (async () => {
    while (going) expect(await found(service, 'metadata.group:before')).toEqual({ ids, total: 40 });
  })();
  for (let round = 0; round < 3; round += 1) {
    expect(await rebuildTokens(service)).toEqual({ outcome: 'done', different: 0, examples: [] });
  }
  going = false;
  const rounds = await Promise.all(callers);
  await looker;
  expect(Math.min(...rounds)).toBeGreaterThan(0);
  expect(await endOfRebuild(service)).toMatchObject({ outcome: 'done' });
  expect((await service.service.projections.status())[0]).toMatchObject({ generation: 4, state: expect.any(String) });
  expect(service.errors).toEqual([]);
  await service.close();
});
