import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';

type Known = { readonly id: string; readonly word: string; readonly n: number };

/** Sends a request to one of the service's processes. */
export type Call = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  body?: unknown,
) => Promise<{ readonly status: number; readonly text: string; readonly body: JsonObject }>;

/** Creates a token that can be found with the queries `metadata.group:GROUP` and `data:WORD`. */
export async function create(call: Call, group: string): Promise<Known> {
  const known = { id: `id-${randomUUID()}`, word: `w${randomUUID().replaceAll('-', '')}`, n: 0 };
  const body = { ...known, type: 'token', data: known.word, metadata: { group, word: known.word, n: '0' } };
  const { word: _, n: __, ...request } = body;
  const { status, text } = await call('POST', '/tokens', { ...request, search_indexes: ['{{ data }}'] });
  expect(status, text).toBe(201);
  return known;
}

export async function found(call: Call, query: string): Promise<{ ids: string[]; total: number }> {
  const { status, text } = await call('POST', '/tokens/search', { query, size: 100 });
  expect(status, text).toBe(200);
  const { data, pagination } = JSON.parse(text) as { data: { id: string }[]; pagination: { total_items: number } };
  return { ids: data.map(({ id }) => id).sort(), total: pagination.total_items };
}

/** Returns the ids of the first hundred tokens in the list. */
async function listed(call: Call): Promise<ReadonlySet<string>> {
  const { status, text } = await call('GET', '/tokens?size=100');
  expect(status, text).toBe(200);
  const { data } = JSON.parse(text) as { data: { id: string }[] };
  return new Set(data.map(({ id }) => id));
}

/**
 * Runs one caller. No other caller changes this caller's tokens, so the correct results of get, search, list and count
 * are always known. Returns the number of rounds.
 */
export async function loaded(call: Call, group: string, goesOn: () => boolean): Promise<number> {
  const mine = new Map<string, Known>();
  let rounds = 0;
  for (; goesOn(); rounds += 1) {
    const made = await create(call, group);
    mine.set(made.id, made);
    // Other callers create tokens at the same time, but too few to push this token out of the first hundred tokens.
    expect(await listed(call)).toContain(made.id);
    const some = [...mine.values()][rounds % mine.size] as Known;
    const word = `w${randomUUID().replaceAll('-', '')}`;
    const changed = { ...some, word, n: some.n + 1 };
    const patch = { data: word, metadata: { group, word, n: String(changed.n) } };
    expect((await call('PATCH', `/tokens/${some.id}`, patch)).status).toBe(200);
    mine.set(some.id, changed);
    expect((await call('GET', `/tokens/${some.id}`)).body).toMatchObject({ data: word });
    expect(await found(call, `data:${word}`)).toEqual({ ids: [some.id], total: 1 });
    expect(await found(call, `data:${some.word}`)).toEqual({ ids: [], total: 0 });
    if (rounds % 3 === 2) {
      const [gone] = mine.keys();
      expect((await call('DELETE', `/tokens/${gone}`)).status).toBe(204);
      mine.delete(String(gone));
      expect((await call('GET', `/tokens/${gone}`)).status).toBe(404);
    }
    expect(await found(call, `metadata.group:${group}`)).toEqual({ ids: [...mine.keys()].sort(), total: mine.size });
    if (mine.size > 60) {
      for (const id of [...mine.keys()].slice(0, 30)) {
        expect((await call('DELETE', `/tokens/${id}`)).status).toBe(204);
        mine.delete(id);
      }
    }
    await nextTurn();
  }
  for (const { id, word } of mine.values()) {
    expect((await call('GET', `/tokens/${id}`)).body).toMatchObject({ data: word });
    expect(await found(call, `data:${word}`)).toEqual({ ids: [id], total: 1 });
  }
  return rounds;
}
