import { describe, expect } from 'vitest';
import type { TestService } from '../../../support/test-service.js';
import { rule } from '../../../support/test-service.js';
import { collected, makeStale } from '../search-suggestions/support.js';
import { createPlain, expectRefusal, invalid, test } from '../support.js';

async function suggestionsFor(service: TestService, query: string, key?: string): Promise<unknown> {
  const { status, text, body } = await service.call(
    'POST',
    '/tokens/search',
    { query },
    key === undefined ? {} : { key },
  );
  expect(status, text).toBe(200);
  expect(body['pagination'], query).toMatchObject({ total_items: 0 });
  return body['_suggestions'];
}

async function messageOf(service: TestService, query: string, key?: string): Promise<string> {
  const send = () => service.call('POST', '/tokens/search', { query }, key === undefined ? {} : { key });
  const { body } = await expectRefusal(service, send, invalid('query'));
  return String((body['errors'] as { query: string[] }).query);
}

async function populate(service: TestService): Promise<void> {
  makeStale(service);
  await createPlain(service, {
    metadata: { customer: 'c-17', 'my order': '1' },
    containers: ['/pci/high/'],
    data: 'Sensitive',
    search_indexes: ['{{ data }}'],
  });
  await collected(service);
}

describe('a search that finds nothing suggests what may have been meant', () => {
  test.for<[string, string[] | undefined]>([
    ['metadata.custmoer:c-17', ['metadata.customer']],
    ['metadata.CUSTMER:c-17', ['metadata.customer']],
    ['metadata."my odrer":1', ['metadata."my order"']],
    ['container:/pci/hgih/', ['container:/pci/high/']],
    ['container:/pci/hgih/*', ['container:/pci/high/*']],
    ['container:/pcii/*', ['container:/pci/*']],
    ['container:/PCI/HIHG/', ['container:/pci/high/']],
    ['type:card_nubmer', ['type:card_number']],
    ['type:tokn AND (metadata.custome:x OR container:/pc/)', ['type:token', 'metadata.customer', 'container:/pci/*']],
    ['metadata.custmoer:a AND metadata.custmoer:b', ['metadata.customer']],
    ['metadata.customer:nobody', undefined],
    ['container:/pci/high/ AND data:Sensitiv', undefined],
    ['container:/pci/* AND type:card', undefined],
    ['data:Sensitiv', undefined],
    ['type:card NOT metadata.custmoer:a', undefined],
    ['metadata.nothinglikeit:1', undefined],
  ])('%s', async ([query, expected], { service }) => {
    await populate(service);
    expect(await suggestionsFor(service, query)).toEqual(expected);
  });

  test('a search that finds a token has no suggestions', async ({ service }) => {
    await populate(service);
    const { body } = await service.call('POST', '/tokens/search', { query: 'type:token OR type:tokn' });
    expect(Object.keys(body)).toEqual(['pagination', 'data']);
  });
});

describe('an error about an unknown field names the most similar field or metadata key, and nothing from the query', () => {
  test.for([
    ['tipe:Zq7', 'type', 1],
    ['tpye:Zq7', 'type', 1],
    ['type:card AND custmoer:Zq7', 'metadata.customer', 15],
    ['customer:Zq7', 'metadata.customer', 1],
    ['Metadata.custmoer:Zq7', 'metadata.customer', 1],
    ['metadat.customer:Zq7', 'metadata.customer', 1],
    ['metadat.unheardof:Zq7', 'metadata.<key>', 1],
  ] as const)('%s', async ([query, nearest, at], { service }) => {
    await populate(service);
    const message = await messageOf(service, query);
    expect(message).toBe(`unknown field; did you mean \`${nearest}\`? (at character ${at})`);
  });

  test('unless no name is similar', async ({ service }) => {
    await populate(service);
    expect(await messageOf(service, 'nofield:abc AND (')).toBe(
      'unknown field; the fields are id, type, data, fingerprint, created_by, modified_by, container, created_at, ' +
        'modified_at and metadata.<key> (at character 1)',
    );
  });

  test('a message never repeats the input', async ({ service }) => {
    await populate(service);
    for (const typed of ['Zq7', 'custmoerZq7', `Zq7${'a'.repeat(1_900)}`, 'metadata4111111111111111']) {
      expect(await messageOf(service, `${typed}:x`)).not.toContain(typed.slice(0, 20));
    }
  });
});

/**
 * Threat: an attacker sends misspelled queries, and learns from the suggestions about keys and containers outside its
 * rules.
 */
describe('a caller that may not search everything learns nothing about other tokens', () => {
  test('from errors or suggestions, whether or not such tokens exist', async ({ service }) => {
    await populate(service);
    const key = await service.application([rule('/own/high/', 'reveal', ['token:search'])]);
    for (const query of [
      'metadata.custmoer:c-17',
      'metadata.customer:c-17',
      'container:/pci/hgih/',
      'container:/pci/high/',
      'container:/pci/hgih/*',
    ]) {
      expect(await suggestionsFor(service, query, key), query).toBeUndefined();
    }
    expect(await messageOf(service, 'custmoer:x', key)).not.toContain('metadata.customer');
    expect(await messageOf(service, 'metadat.custmoer:x', key)).not.toContain('customer');
    expect(await suggestionsFor(service, 'container:/own/hgih/', key)).toEqual(['container:/own/high/']);
    expect(await suggestionsFor(service, 'container:/own/high/nothing/', key)).toBeUndefined();
    expect(await suggestionsFor(service, 'type:tokn', key)).toEqual(['type:token']);
  });
});
