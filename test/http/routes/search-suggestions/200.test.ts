import { describe, expect } from 'vitest';
import type { UnitOfWork } from '#src/ports/unit-of-work.js';
import { rule } from '../../../support/test-service.js';
import { search } from '../search-tokens/support.js';
import { createPlain, path, test } from '../support.js';
import { collected, makeStale, refreshMs, suggest, suggestNow } from './support.js';

describe('fields and types are suggested to every caller', () => {
  test('in a tenant without tokens, they are the only suggestions', async ({ service }) => {
    const key = await service.otherTenant();
    expect(await suggest(service, 'con', key)).toEqual(['container']);
    expect(await suggest(service, 'CREATED', key)).toEqual(['created_at', 'created_by']);
    expect(await suggest(service, 'card', key)).toEqual(['card', 'card_number']);
    expect(await suggest(service, 'meta', key)).toEqual(['metadata.']);
    expect(await suggest(service, 'type:us_', key)).toEqual([
      'type:us_bank_account_number',
      'type:us_bank_routing_number',
    ]);
    expect(await suggest(service, '/', key)).toEqual([]);
    expect(await suggest(service, 'metadata.', key)).toEqual([]);
  });

  test('are suggested with their kinds; without a prefix, up to 20 fields and types are suggested', async ({
    service,
  }) => {
    const key = await service.otherTenant();
    expect(await suggestNow(service, 'ty', key)).toEqual([{ text: 'type', kind: 'field' }]);
    expect(await suggestNow(service, 'employer', key)).toEqual([{ text: 'employer_id_number', kind: 'type' }]);
    const all = await suggestNow(service, undefined, key);
    expect(all.filter(({ kind }) => kind === 'field')).toHaveLength(10);
    expect(all.filter(({ kind }) => kind === 'type')).toHaveLength(8);
    expect(await suggestNow(service, '', key)).toEqual(all);
  });

  test('if nothing has the prefix, the most similar words are suggested', async ({ service }) => {
    expect(await suggest(service, 'contianer')).toEqual(['container']);
    expect(await suggest(service, 'type:crad_number')).toEqual(['type:card_number']);
    expect(await suggest(service, 'zzzzzzzz')).toEqual([]);
  });
});

describe('metadata keys and containers of live tokens', () => {
  test('are suggested for the beginning of the key or of its whole term, but a value or an id is never suggested', async ({
    service,
  }) => {
    makeStale(service);
    const id = `secretid-${Date.now()}`;
    await createPlain(service, {
      id,
      data: 'secretdata',
      search_indexes: ['{{ data }}'],
      metadata: { shopper: 'secretvalue' },
      containers: ['/shop/eu/north/'],
    });
    await collected(service);
    expect(await suggestNow(service, 'shop')).toEqual([{ text: 'metadata.shopper', kind: 'metadata_key' }]);
    expect(await suggest(service, 'metadata.sho')).toEqual(['metadata.shopper']);
    expect(await suggestNow(service, '/sho')).toEqual([
      { text: '/shop/*', kind: 'container' },
      { text: '/shop/eu/*', kind: 'container' },
      { text: '/shop/eu/north/', kind: 'container' },
    ]);
    expect(await suggest(service, 'container:/shop/eu/n')).toEqual(['container:/shop/eu/north/']);
    expect(await suggest(service, 'container:"/shop/eu/n')).toEqual(['container:/shop/eu/north/']);
    for (const secret of ['secret', 'metadata.secret', 'secretd', 'secreti', 'metadata.shopper:s', 'data:s', 'id:s']) {
      expect((await suggest(service, secret)).join(), secret).not.toContain('secret');
    }
  });

  test('can be used in a query as they are suggested, whatever characters a key contains', async ({ service }) => {
    makeStale(service);
    const keys = [
      'odd my key',
      'odd:colon',
      'odd"quote\\',
      'odd*star',
      'odd.plain_1-x',
      'oddÜber',
      '__proto__x',
      'odd🙂',
    ];
    const { id } = await createPlain(service, { metadata: Object.fromEntries(keys.map((key) => [key, 'v'])) });
    const texts = await suggest(service, 'odd');
    expect(texts).toEqual(
      expect.arrayContaining(['metadata."odd my key"', 'metadata."odd\\"quote\\\\"', 'metadata.odd.plain_1-x']),
    );
    expect(texts).toHaveLength(7);
    for (const text of texts) expect((await search(service, `${text}:v`)).ids, text).toEqual([id]);
    expect(await suggest(service, 'metadata."odd my')).toEqual(['metadata."odd my key"']);
    expect(await suggest(service, 'ODDÜB')).toEqual(['metadata.oddÜber']);
    expect(await suggest(service, '__proto')).toEqual(['metadata.__proto__x']);
  });

  test('are sorted, and at most 20 are suggested', async ({ service }) => {
    makeStale(service);
    const keys = Array.from({ length: 30 }, (_, i) => `many${String(i).padStart(2, '0')}`);
    await createPlain(service, { metadata: Object.fromEntries(keys.map((key) => [key, 'v'])) });
    expect(await suggest(service, 'many')).toEqual(keys.slice(0, 20).map((key) => `metadata.${key}`));
  });

  /** Threat: an attacker who may see suggestions reads the container of an erased token long after the erasure. */
  test('are no longer suggested after a deletion; others are at most ten minutes out of date', async ({ service }) => {
    makeStale(service);
    const expires_at = new Date(service.clock.now() + 60_000).toISOString();
    const { id } = await createPlain(service, { metadata: { gonedeleted: 'v' }, containers: ['/gone/deleted/'] });
    await createPlain(service, { metadata: { goneexpired: 'v' }, expires_at });
    expect(await suggest(service, 'gone')).toEqual(['metadata.gonedeleted', 'metadata.goneexpired']);
    expect((await service.call('DELETE', path(id))).status).toBe(204);
    // If the previous collection was slow, the next one begins only a while later.
    await expect.poll(() => suggest(service, 'gone')).toEqual(['metadata.goneexpired']);
    expect(await suggest(service, '/gone')).toEqual([]);
    await createPlain(service, { metadata: { gonenew: 'v' } });
    service.clock.advance(refreshMs);
    expect(await suggest(service, 'gone')).toEqual(['metadata.gonenew']);
  });

  test('are no longer suggested after a deletion that was stored in part, because others deleted the rest', async ({
    service,
  }) => {
    makeStale(service);
    const tokens = [
      await createPlain(service, { metadata: { partone: 'v' } }),
      await createPlain(service, { metadata: { parttwo: 'v' } }),
    ];
    expect(await suggest(service, 'part')).toEqual(['metadata.partone', 'metadata.parttwo']);
    const work = service.vault.work as { commit: UnitOfWork['commit'] };
    const { commit } = work;
    work.commit = async (change) => {
      work.commit = commit;
      await commit(change);
      return { outcome: 'conflict', landed: [0] };
    };
    const answer = await service.call('POST', '/tokens/delete', { ids: tokens.map(({ id }) => id) });
    expect(answer.status, answer.text).toBe(200);
    // If the previous collection was slow, the next one begins only a while later.
    await expect.poll(() => suggest(service, 'part')).toEqual([]);
  });

  test('that are more than ten minutes old are not suggested, even while new ones are collected', async ({
    service,
  }) => {
    makeStale(service);
    const { id } = await createPlain(service, { metadata: { staleword: 'v' } });
    expect(await suggest(service, 'staleword')).toEqual(['metadata.staleword']);
    await service.call('DELETE', path(id));
    makeStale(service);
    expect(await suggestNow(service, 'staleword')).toEqual([]);
  });
});

/** Threat: an application that sees only one container uses the suggestions to learn about other containers. */
describe('a caller that may not search everything', () => {
  test('gets the containers of its own rules that grant search, and no metadata key or other container', async ({
    service,
  }) => {
    makeStale(service);
    await createPlain(service, { metadata: { hiddenkey: 'v' }, containers: ['/hidden/one/'] });
    await createPlain(service, { metadata: { hiddenown: 'v' }, containers: ['/own/part/deep/'] });
    await collected(service);
    const key = await service.application([
      rule('/own/part/', 'reveal', ['token:search'], 1),
      rule('/own/', 'mask', ['token:search'], 2),
      rule('/read/', 'reveal', ['token:read'], 3),
    ]);
    expect(await suggest(service, '/', key)).toEqual(['/own/', '/own/part/']);
    for (const prefix of [
      'hidden',
      '/hid',
      '/hidden/on',
      'metadata.',
      'metadata.hiddenkye',
      'container:/hidden/one',
      '/read',
    ]) {
      expect(await suggest(service, prefix, key), prefix).toEqual([]);
    }
    expect(await suggest(service, 'con', key)).toEqual(['container']);
    const all = await service.application(['token:search']);
    expect(await suggest(service, '/hid', all), 'plain permissions search everything').toEqual([
      '/hidden/*',
      '/hidden/one/',
    ]);
  });

  test('gets the same response whatever the tenant contains, and no words are collected for it', async ({
    service,
  }) => {
    const key = await service.application([rule('/narrow/', 'reveal', ['token:search'])]);
    const prefixes = ['', '/', '/narrw', 'cust', 'metadata.cust', 'container:/', 'zz'];
    const answers = async () =>
      JSON.stringify(await Promise.all(prefixes.map((prefix) => suggestNow(service, prefix, key))));
    makeStale(service);
    const before = await answers();
    await createPlain(service, { metadata: { customer: 'v' }, containers: ['/narrow/inner/', '/narrwo/'] });
    expect(await answers()).toBe(before);
    // Since the last collection, no caller that may search everything has sent a request. If this caller's request had
    // begun a collection, the collection below would not begin.
    let collecting = false;
    await service.vault.vocabularies.of(service.tenantId, service.clock.now(), async () => {
      collecting = true;
      return null;
    });
    expect(collecting, 'the first caller that asks for the words of the tenant').toBe(true);
  });

  test('learns nothing about another tenant', async ({ service }) => {
    makeStale(service);
    await createPlain(service, { metadata: { foreignkey: 'v' }, containers: ['/foreign/'] });
    await collected(service);
    const key = await service.otherTenant();
    expect(await suggest(service, 'foreign', key)).toEqual([]);
    expect(await suggest(service, '/foreign', key)).toEqual([]);
  });
});
