import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { list } from '../search-tokens/support.js';
import { create, createPlain, path, read, test, uniqueId } from '../support.js';

describe('a list returns whole tokens, newest first', () => {
  test('each token equals the result of a get; changes are visible immediately, and deleted tokens are gone', async ({
    service,
  }) => {
    const group = uniqueId('group');
    const [first, second] = [
      await createPlain(service, { metadata: { group } }),
      await create(service, { type: 'card_number', data: '4242424242424242', metadata: { group } }),
    ];
    const query = `?metadata.group=${group}`;
    expect((await list(service, query)).tokens).toEqual([
      await read(service, second.id),
      await read(service, first.id),
    ]);
    await service.call('PATCH', path(first.id), { metadata: { more: 'yes' } });
    expect((await list(service, query)).tokens[1]).toEqual(await read(service, first.id));
    await service.call('DELETE', path(second.id));
    expect(await list(service, query)).toMatchObject({ ids: [first.id], total: 1 });
  });

  test('page and size select tokens; the default is the first 20 tokens, and a page past the end is empty', async ({
    service,
  }) => {
    const group = uniqueId('group');
    await Promise.all(Array.from({ length: 21 }, () => createPlain(service, { metadata: { group } })));
    const query = `?metadata.group=${group}`;
    expect((await list(service, query)).pagination).toEqual({
      total_items: 21,
      page_number: 1,
      page_size: 20,
      total_pages: 2,
    });
    expect((await list(service, `${query}&page=3&size=10`)).ids).toHaveLength(1);
    expect((await list(service, `${query}&page=4&size=10`)).ids).toEqual([]);
    expect((await list(service, `${query}&size=100`)).ids).toHaveLength(21);
  });

  test('without a filter, every token is returned; a trailing slash is ignored, and HEAD is like GET', async ({
    service,
  }) => {
    await createPlain(service);
    const { total } = await list(service);
    expect(total).toBeGreaterThan(0);
    expect((await service.call('GET', '/tokens/')).body['pagination']).toMatchObject({ total_items: total });
    expect((await service.call('HEAD', '/tokens')).status).toBe(200);
  });
});

describe('filters are combined with AND, and repeated ids or types with OR', () => {
  test('ids match exactly, and may be unknown or percent-encoded', async ({ service }) => {
    const [one, other] = [await createPlain(service, { id: uniqueId('Ä b') }), await createPlain(service)];
    const encoded = encodeURIComponent(one.id);
    expect((await list(service, `?id=${encoded}`)).ids).toEqual([one.id]);
    expect((await list(service, `?id=${encoded}&id=${other.id}&id=unknown`)).ids).toEqual([other.id, one.id]);
    expect((await list(service, `?id=${other.id.toUpperCase()}`)).ids).toEqual([]);
    expect((await list(service, '?id=')).ids).toEqual([]);
    const many = Array.from({ length: 300 }, (_, i) => `id=no-${i}`).join('&');
    expect((await list(service, `?${many}&id=${other.id}`)).ids).toEqual([other.id]);
  });

  test('several types can match, and a type that does not exist finds nothing', async ({ service }) => {
    const group = uniqueId('group');
    const metadata = { group };
    const plain = await createPlain(service, { metadata });
    const routing = await create(service, { type: 'us_bank_routing_number', data: '110000000', metadata });
    const query = `?metadata.group=${group}`;
    expect((await list(service, `${query}&type=token`)).ids).toEqual([plain.id]);
    expect((await list(service, `${query}&type=token&type=us_bank_routing_number`)).ids).toEqual([
      routing.id,
      plain.id,
    ]);
    expect((await list(service, `${query}&type=no_such_type`)).ids).toEqual([]);
    expect((await list(service, `${query}&type=token&id=${routing.id}`)).ids).toEqual([]);
  });

  test('metadata ignores case, several keys are combined with AND, a repeated parameter counts once, and one JSON object works as well', async ({
    service,
  }) => {
    const group = uniqueId('Group');
    const { id } = await createPlain(service, { metadata: { group, 'my key': 'Größe & more' } });
    await createPlain(service, { metadata: { group } });
    const [upper, value] = [group.toUpperCase(), encodeURIComponent('GRÖSSE & MORE')];
    for (const query of [
      `?metadata.GROUP=${upper}&metadata.my%20key=${value}`,
      `?metadata.my+key=${value}&metadata.group=${group}`,
      `?metadata.my%20key=${value}&metadata.my%20key=other&metadata.group=${group}`,
      `?metadata[group]=${group}&metadata%5Bmy%20key%5D=${value}`,
      `?metadata=${encodeURIComponent(JSON.stringify({ Group: group, 'My Key': 'größe & More' }))}`,
      `?metadata=${encodeURIComponent(JSON.stringify({ group }))}&metadata.my%20key=${value}`,
      `?metadata.group=${group}&metadata.my%20key=${value}&unknown=1&metadata.GROUP=${upper}`,
    ]) {
      expect((await list(service, query)).ids, query).toEqual([id]);
    }
    expect((await list(service, `?metadata.group=${group}&metadata.other=x`)).ids).toEqual([]);
    expect((await list(service, `?metadata.group=${group}&metadata.=x`)).ids).toEqual([]);
    expect((await list(service, `?metadata.group=${group}&metadata={}`)).total).toBe(2);
  });

  test('a key in several parameters must match each of them, so that no filter is ignored', async ({ service }) => {
    const key = uniqueId('key');
    await createPlain(service, { metadata: { [key]: 'b' } });
    const both = await createPlain(service, { metadata: { [key]: 'b', [key.toUpperCase()]: 'c' } });
    const object = (value: object) => encodeURIComponent(JSON.stringify(value));
    for (const query of [
      `?metadata.${key}=b&metadata.${key.toUpperCase()}=c`,
      `?metadata.${key}=b&metadata[${key}]=c`,
      `?metadata=${object({ [key]: 'c' })}&metadata.${key}=b`,
      `?metadata=${object({ [key]: 'c', [key.toUpperCase()]: 'b' })}`,
    ]) {
      expect((await list(service, query)).ids, query).toEqual([both.id]);
    }
  });
});

describe('a list requires token:read, and shows what the caller’s rules show', () => {
  test('tokens that the rules do not cover are on no page and not in the total', async ({ service }) => {
    const group = uniqueId('group');
    const shared = { metadata: { group }, data: '1234567890', mask: '{{ data | last4 }}' };
    const masked = await createPlain(service, { ...shared, containers: ['/x/'] });
    const shown = await createPlain(service, { ...shared, containers: ['/x/y/', '/z/'] });
    await createPlain(service, { ...shared, containers: ['/z/'] });
    const key = await service.application([
      rule('/x/', 'mask', ['token:read'], 2),
      rule('/x/y/', 'reveal', ['token:read'], 1),
      rule('/z/', 'reveal', ['token:search'], 1),
    ]);
    const { ids, total, tokens } = await list(service, `?metadata.group=${group}`, key);
    expect([ids, total]).toEqual([[shown.id, masked.id], 2]);
    expect(tokens.map(({ data }) => data)).toEqual(['1234567890', '7890']);
  });

  test('another tenant sees none of these tokens', async ({ service }) => {
    const { id } = await createPlain(service);
    const key = await service.otherTenant();
    expect((await list(service, '', key)).total).toBe(0);
    expect((await list(service, `?id=${id}`, key)).total).toBe(0);
  });
});
