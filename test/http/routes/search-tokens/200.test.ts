import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { card, create, createPlain, path, read, test, uniqueId } from '../support.js';
import { search } from './support.js';

describe('a search returns whole tokens, and the position of the page', () => {
  test('each token equals the result of a get', async ({ service }) => {
    const group = uniqueId('group');
    const metadata = { group };
    const plain = await createPlain(service, { metadata, search_indexes: ['{{ data }}'], expires_at: '1/1/2030' });
    const withCvc = await create(service, { type: 'card', data: card, metadata });
    const { tokens } = await search(service, `metadata.group:${group}`);
    expect(tokens).toEqual([await read(service, withCvc.id), await read(service, plain.id)]);
    expect(tokens[0]).toMatchObject({ data: { cvc: '123' } });
  });

  test('in pages of the given size, newest first, with a short last page and an empty page past the end', async ({
    service,
  }) => {
    const group = uniqueId('group');
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.unshift((await createPlain(service, { metadata: { group } })).id);
    const query = `metadata.group:${group}`;
    const pages = [1, 2, 3, 4].map((page) => search(service, query, { page, size: 2 }));
    const [first, second, third, fourth] = await Promise.all(pages);
    expect([first?.ids, second?.ids, third?.ids, fourth?.ids]).toEqual([
      ids.slice(0, 2),
      ids.slice(2, 4),
      ids.slice(4),
      [],
    ]);
    expect(third?.pagination).toEqual({ total_items: 5, page_number: 3, page_size: 2, total_pages: 3 });
    expect(fourth?.pagination).toEqual({ total_items: 5, page_number: 4, page_size: 2, total_pages: 3 });
    const far = await search(service, query, { page: Number.MAX_SAFE_INTEGER, size: 100 });
    expect(far.ids).toEqual([]);
  });

  test('without a page or a size, the first 20 tokens are returned; an empty result has no pages', async ({
    service,
  }) => {
    const metadata = { group: uniqueId('group') };
    await Promise.all(Array.from({ length: 21 }, () => createPlain(service, { metadata })));
    const found = await search(service, `metadata.group:${metadata.group}`);
    expect(found.ids).toHaveLength(20);
    expect(found.pagination).toEqual({ total_items: 21, page_number: 1, page_size: 20, total_pages: 2 });
    const nothing = await search(service, 'metadata.group:nothing');
    expect(nothing.pagination).toEqual({ total_items: 0, page_number: 1, page_size: 20, total_pages: 0 });
  });

  test('an empty, blank, null or missing query finds every token, and so does a missing body', async ({ service }) => {
    await createPlain(service);
    const { total } = await search(service, '');
    expect(total).toBeGreaterThan(0);
    expect((await search(service, ' \t')).total).toBe(total);
    expect((await search(service)).total).toBe(total);
    for (const body of [undefined, {}, { query: null, page: null, size: null }, { unknown: 1 }]) {
      const answer = await service.call('POST', '/tokens/search', body);
      expect(answer.body['pagination']).toMatchObject({ total_items: total, page_number: 1, page_size: 20 });
    }
  });
});

describe('a search finds exactly the tokens that exist', () => {
  test('right after they are created, updated or deleted, and no longer by their old words', async ({ service }) => {
    const [before, after] = [uniqueId('w'), uniqueId('w')];
    const { id } = await createPlain(service, {
      data: before,
      metadata: { word: before },
      search_indexes: ['{{ data }}'],
      containers: ['/first/'],
    });
    const ids = async (query: string) => (await search(service, query)).ids;
    expect(await ids(`data:${before}`)).toEqual([id]);
    const patch = { data: after, metadata: { word: after }, containers: ['/second/deep/'] };
    expect((await service.call('PATCH', path(id), patch)).status).toBe(200);
    for (const query of [`data:${before}`, `metadata.word:${before}`, `id:"${id}" AND container:/first/*`]) {
      expect(await ids(query), query).toEqual([]);
    }
    for (const query of [`data:${after}`, `metadata.word:${after}`, `id:"${id}" AND container:/second/*`]) {
      expect(await ids(query), query).toEqual([id]);
    }
    expect((await service.call('DELETE', path(id))).status).toBe(204);
    for (const query of [`data:${after}`, `metadata.word:${after}`, `id:"${id}"`]) {
      expect(await ids(query), query).toEqual([]);
    }
  });

  test('by the key and the value of metadata, not by their concatenation', async ({ service }) => {
    const word = uniqueId('w');
    const { id } = await createPlain(service, { metadata: { a: `b${word}` } });
    expect((await search(service, `metadata.a:b${word}`)).ids).toEqual([id]);
    expect((await search(service, `metadata.ab:${word}`)).ids).toEqual([]);
  });

  test('an expired token is not found from its expiry on, whether or not the sweep has run, and totals leave it out', async ({
    service,
  }) => {
    const group = uniqueId('group');
    const expiresAt = new Date(service.clock.now() + 60_000).toISOString();
    const kept = await createPlain(service, { metadata: { group } });
    await createPlain(service, { metadata: { group }, expires_at: expiresAt });
    const query = `metadata.group:${group}`;
    expect((await search(service, query)).total).toBe(2);
    service.clock.advance(60_000);
    expect(await search(service, query)).toMatchObject({ ids: [kept.id], total: 1 });
    expect(await search(service, `${query} AND type:token`)).toMatchObject({ ids: [kept.id], total: 1 });
    await service.service.sweep.run();
    expect(await search(service, query)).toMatchObject({ ids: [kept.id], total: 1 });
  });

  test('a token whose id was reused is found only in its new life', async ({ service }) => {
    const id = uniqueId();
    await createPlain(service, { id, metadata: { life: 'first' } });
    await service.call('DELETE', path(id));
    const between = await createPlain(service);
    await createPlain(service, { id, metadata: { life: 'second' } });
    expect((await search(service, `id:${id} AND metadata.life:first`)).ids).toEqual([]);
    expect((await search(service, `id:${id} OR id:${between.id}`)).ids).toEqual([id, between.id]);
  });
});

describe('the tokens that a caller sees', () => {
  test('are those that its rules cover, each with the transform of the deciding rule', async ({ service }) => {
    const group = uniqueId('group');
    const shared = { metadata: { group }, data: '1234567890', mask: '{{ data | last4 }}' };
    const ids: string[] = [];
    for (const container of ['/a/', '/a/b/', '/c/', '/d/']) {
      ids.push((await createPlain(service, { ...shared, containers: [container] })).id);
    }
    const key = await service.application([
      rule('/a/', 'mask', ['token:search'], 2),
      rule('/a/b/', 'reveal', ['token:search'], 1),
      rule('/c/', 'redact', ['token:search'], 1),
      rule('/d/', 'reveal', ['token:read', 'token:use'], 1),
    ]);
    const { ids: seen, tokens, total } = await search(service, `metadata.group:${group}`, { key });
    expect(seen).toEqual([ids[2], ids[1], ids[0]]);
    expect(total).toBe(3);
    expect(tokens.map(({ data }) => data)).toEqual([undefined, '1234567890', '7890']);
  });

  test('are all tokens, masked, under plain permissions', async ({ service }) => {
    const { id } = await createPlain(service, { data: '1234567890', mask: '{{ data | last4 }}' });
    const key = await service.application(['token:search']);
    const { tokens } = await search(service, `id:${id}`, { key });
    expect(tokens.map(({ data }) => data)).toEqual(['7890']);
  });

  test('are never those of another tenant', async ({ service }) => {
    const { id } = await createPlain(service, { metadata: { a: 'b' } });
    const key = await service.otherTenant();
    for (const query of ['', `id:${id}`, 'metadata.a:b', 'type:token']) {
      expect((await search(service, query, { key })).total, query).toBe(0);
    }
  });
});

describe('a search with data: matches the evaluated indexes of tokens of any type', () => {
  test('the default indexes of a social security number and an employer id can be searched', async ({ service }) => {
    const { id } = await create(service, { type: 'social_security_number', data: '623-45-6780' });
    for (const value of ['623-45-6780', '623456780', '6780']) {
      expect((await search(service, `data:${value}`)).ids, value).toEqual([id]);
    }
    for (const value of ['623', '456780', '"623 45 6780"']) {
      expect((await search(service, `data:${value}`)).ids, value).toEqual([]);
    }
  });

  test('a generic token has no index by default, and an empty list removes the default indexes', async ({
    service,
  }) => {
    const data = uniqueId('plain');
    await createPlain(service, { data });
    await create(service, { type: 'employer_id_number', data: '98-7654321', search_indexes: [] });
    expect((await search(service, `data:${data}`)).ids).toEqual([]);
    expect((await search(service, 'data:98-7654321')).ids).toEqual([]);
  });

  test('numbers and booleans match as text, a card matches by its own index, and case is ignored', async ({
    service,
  }) => {
    const name = uniqueId('NAME');
    const search_indexes = ['{{ data.n }}', '{{ data.ok }}', '{{ data.name }}'];
    const object = await createPlain(service, { data: { n: 8.5, ok: true, name }, search_indexes });
    const number = '4000056655665556';
    const aCard = await create(service, { type: 'card', data: { number }, search_indexes: ['{{ data.number }}'] });
    expect((await search(service, 'data:8.5')).ids).toEqual([object.id]);
    expect((await search(service, 'data:TRUE')).ids).toEqual([object.id]);
    expect((await search(service, `data:${name.toLowerCase()}`)).ids).toEqual([object.id]);
    expect((await search(service, `data:${number}`)).ids).toEqual([aCard.id]);
  });

  /** Threat: an attacker finds a card's verification code by searching for each of the thousand possible codes. */
  test('a cvc is never searchable', async ({ service }) => {
    const search_indexes = ['{{ data.number | last4 }}', '{{ data | stringify }}'];
    const data = { ...card, number: '5555555555554444', cvc: '917' };
    const { id } = await create(service, { type: 'card', data, search_indexes });
    await service.call('PATCH', path(id), { data: { cvc: '918' } });
    for (const value of ['917', '918', `"${JSON.stringify(data).replaceAll('"', '\\"')}"`]) {
      expect((await search(service, `data:${value}`)).ids, value).toEqual([]);
    }
    const refused = { type: 'card', data, search_indexes: ['{{ data.cvc }}'] };
    expect((await service.call('POST', '/tokens', refused)).status).toBe(400);
  });
});

describe('a search in the other fields', () => {
  test('matches fingerprints and ids exactly, types in any case, and applications and dates', async ({ service }) => {
    const { id, fingerprint, created_by } = await createPlain(service, { id: uniqueId('MixedCase') });
    const ids = async (query: string) => (await search(service, `${query} AND id:${id}`)).ids;
    expect(await ids(`fingerprint:${fingerprint}`)).toContain(id);
    expect(await ids(`fingerprint:${String(fingerprint).toLowerCase()}`)).toEqual([]);
    expect((await search(service, `id:${id.toLowerCase()}`)).ids).toEqual([]);
    expect(await ids('type:TOKEN')).toEqual([id]);
    expect(await ids(`created_by:${created_by}`)).toEqual([id]);
    expect(await ids('modified_at:[* TO *]')).toEqual([]);
    expect(await ids('created_at:2026-01-31')).toEqual([id]);
    expect(await ids('created_at:[2026-01-31 TO 2026-02-01}')).toEqual([id]);
    expect(await ids('created_at:[2026-02-01 TO 2026-01-31]')).toEqual([]);
    expect(await ids('created_at:{* TO 2026-01-31]')).toEqual([]);
    await service.call('PATCH', path(id), { metadata: { a: 'b' } });
    expect(await ids(`modified_by:${created_by}`)).toEqual([id]);
    expect(await ids('modified_at:[2026-01-31 TO *]')).toEqual([id]);
  });
});
