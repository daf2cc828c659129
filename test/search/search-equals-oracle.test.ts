import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessRule } from '#src/domain/access/access-rule.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import type { JsonObject } from '#src/domain/json.js';
import { formatTimestamp } from '#src/domain/time.js';
import type { Query } from '#src/search/query/syntax-tree.js';
import { accessRules } from '../domain/access/arbitraries.js';
import { rule, startTestService, type TestService } from '../support/test-service.js';
import { queries, termCount } from './arbitraries.js';
import { matches, type PlainToken, seenBy } from './oracle.js';
import { keys, patches, paths, samples, typeNames, words } from './population.js';
import { printQuery } from './print-query.js';

const tokenCount = 110;
const seed = 20_260_131;

type Application = { readonly key: string; readonly rules: readonly AccessRule[] };

let service: TestService;
let applications: readonly Application[];
let masking: string;
let creators: readonly string[];
const tokens = new Map<string, PlainToken & { readonly diesAt: number | null }>();
let created = 0;

beforeAll(async () => {
  service = await startTestService();
  const everywhere = [rule('/', 'mask', tokenPermissions)];
  masking = await service.application(everywhere);
  creators = [service.key, await service.application([rule('/', 'reveal', tokenPermissions)])];
  const random = fc.sample(accessRules, { seed, numRuns: 6 }).map((rules) => [
    ...rules.slice(1),
    // Every caller has permission to search and list. Without these permissions, many comparisons would compare
    // nothing.
    { ...(rules[0] ?? rule('/a/', 'mask', [])), permissions: ['token:search', 'token:read'] as const },
  ]);
  const all: readonly (readonly AccessRule[])[] = [everywhere, ...random];
  applications = await Promise.all(all.map(async (rules) => ({ rules, key: await service.application(rules) })));
});

afterAll(async () => {
  expect(service.errors).toEqual([]);
  await service.close();
});

async function expectStatus(status: number, answer: ReturnType<TestService['call']>): Promise<JsonObject> {
  const { status: got, text, body } = await answer;
  expect(got, text).toBe(status);
  return body;
}

async function remember(id: string, indexValues: readonly string[], diesAt: number | null, order: number) {
  const revealed = await expectStatus(200, service.call('GET', `/tokens/${id}`));
  const masked = await expectStatus(200, service.call('GET', `/tokens/${id}`, undefined, { key: masking }));
  tokens.set(id, { revealed, masked, indexValues, diesAt, order });
}

async function create(id: string, { fields, indexValues, life }: ReturnType<typeof sampled>[number]): Promise<void> {
  const diesAt = life === null ? null : service.clock.now() + life * 1_000;
  const expiry = diesAt === null ? {} : { expires_at: formatTimestamp(diesAt) };
  const key = creators[created % 2] ?? service.key;
  await expectStatus(201, service.call('POST', '/tokens', { id, ...fields, ...expiry }, { key }));
  created += 1;
  await remember(id, indexValues, diesAt, created);
}

function sampled(count: number, offset: number) {
  return fc.sample(samples, { seed: seed + offset, numRuns: count });
}

function living(): readonly PlainToken[] {
  return [...tokens.values()]
    .filter(({ diesAt }) => diesAt === null || diesAt > service.clock.now())
    .sort((a, b) => b.order - a.order);
}

/** Generates queries whose values come from the population, so that many of the queries find tokens. */
function aboutThePopulation(): fc.Arbitrary<Query> {
  const known = (field: string) => [...tokens.values()].map(({ revealed }) => String(revealed[field]));
  const from = (values: readonly string[]) => fc.constantFrom(...new Set(values));
  const start = Date.UTC(2026, 0, 31, 12);
  return queries({
    text: (field) => {
      if (field === 'type') return from([...typeNames, 'TOKEN', 'Card', 'nothing']);
      if (field === 'data') return from([...words, 'STRASSE', '4444', '123456789', '12-3456789', '6789', 'traße']);
      if (field === 'created_by' || field === 'modified_by') return from([...known('created_by'), 'NOBODY']);
      return from([...known(field), ...known(field).map((value) => value.toUpperCase())]);
    },
    metadata: fc.record({
      key: fc.constantFrom(...keys, 'COLOR', 'GRÖSSE'),
      value: fc.constantFrom(...words, 'strasse', 'BLUE'),
    }),
    path: fc.constantFrom(...paths, '/A/B/', '/none/'),
    instant: fc.option(fc.integer({ min: -1, max: 300 }).map((step) => start + step * 1_000)),
  });
}

async function expectAnswersOfTheOracle(numRuns: number): Promise<void> {
  const asked = fc.record({
    query: fc.oneof({ weight: 20, arbitrary: aboutThePopulation() }, fc.constant<Query>({ kind: 'everything' })),
    application: fc.nat(applications.length - 1),
    page: fc.constantFrom(1, 1, 1, 2, 3),
    size: fc.constantFrom(1, 7, 20, 100),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ query, application, page, size }) => {
      fc.pre(termCount(query) <= 64);
      const { key, rules } = applications[application] ?? { key: '', rules: [] };
      const body = { query: printQuery(query), page, size };
      const { _suggestions, ...answer } = await expectStatus(
        200,
        service.call('POST', '/tokens/search', body, { key }),
      );
      const found = living().flatMap((token) => {
        const seen = matches(query, token) ? seenBy(rules, 'token:search', token) : null;
        return seen === null ? [] : [seen];
      });
      // A search without results may return suggestions if the words have been collected. A search with results never
      // returns suggestions.
      if (found.length > 0) expect(_suggestions).toBeUndefined();
      expect(answer).toEqual({
        pagination: {
          total_items: found.length,
          page_number: page,
          page_size: size,
          total_pages: Math.ceil(found.length / size),
        },
        data: found.slice((page - 1) * size, page * size),
      });
    }),
    { numRuns },
  );
}

/** Each test continues with the population that the previous test left. */
describe('for any query, caller and time, a search returns what a scan of every token returns', () => {
  test('after tokens were created', async () => {
    for (const [i, sample] of sampled(tokenCount, 0).entries()) {
      service.clock.advance(i % 3 === 0 ? 1_000 : 0);
      await create(`t-${i}`, sample);
    }
    await expectAnswersOfTheOracle(80);
  });

  test('after updates and deletes', async () => {
    for (const [i, patch] of fc.sample(patches, { seed, numRuns: 40 }).entries()) {
      const token = tokens.get(`t-${i * 2}`);
      if (token === undefined || (token.diesAt ?? Infinity) <= service.clock.now()) continue;
      service.clock.advance(500);
      const isPlain = token.revealed['type'] === 'token' && typeof token.revealed['data'] === 'string';
      const data = isPlain && token.indexValues.length === 1 && i % 2 === 0 ? { data: 'blue' } : {};
      const body = { ...patch, ...data };
      await expectStatus(200, service.call('PATCH', `/tokens/t-${i * 2}`, body, { key: creators[i % 2] ?? '' }));
      const indexValues = 'data' in data ? ['blue'] : token.indexValues;
      await remember(`t-${i * 2}`, indexValues, token.diesAt, token.order);
    }
    for (let i = 1; i < tokenCount; i += 9) {
      const { status } = await service.call('DELETE', `/tokens/t-${i}`);
      if (status === 204) tokens.delete(`t-${i}`);
    }
    await expectAnswersOfTheOracle(80);
  });

  test('after many tokens have expired, and before the sweep runs', async () => {
    service.clock.advance(61_000);
    await expectAnswersOfTheOracle(60);
  });

  test('after the sweep, and after ids that became free are used again', async () => {
    await service.service.sweep.run();
    const freed = Array.from({ length: tokenCount }, (_, i) => `t-${i}`).filter((id) => {
      const { diesAt } = tokens.get(id) ?? { diesAt: 0 };
      return diesAt !== null && diesAt <= service.clock.now();
    });
    const taken = freed.filter((_, i) => i % 2 === 0);
    for (const [i, sample] of sampled(taken.length, 1).entries()) {
      service.clock.advance(100);
      await create(taken[i] ?? '', sample);
    }
    await expectAnswersOfTheOracle(60);
  });

  test('a list with filters returns the same as the search for the same filters', async () => {
    const filters = fc.record({
      ids: fc.option(fc.uniqueArray(fc.constantFrom(...[0, 1, 2, 3, 50, 999].map((i) => `t-${i}`)), { minLength: 1 })),
      types: fc.option(fc.uniqueArray(fc.constantFrom(...typeNames, 'none'), { minLength: 1, maxLength: 3 })),
      color: fc.option(fc.constantFrom(...words)),
      application: fc.nat(applications.length - 1),
    });
    await fc.assert(
      fc.asyncProperty(filters, async ({ ids, types, color, application }) => {
        const { key, rules } = applications[application] ?? { key: '', rules: [] };
        const parameters = new URLSearchParams([
          ...(ids ?? []).map((id): [string, string] => ['id', id]),
          ...(types ?? []).map((type): [string, string] => ['type', type]),
          ...(color === null ? [] : [['metadata.color', color] as [string, string]]),
          ['size', '100'],
        ]);
        const answer = await expectStatus(200, service.call('GET', `/tokens?${parameters}`, undefined, { key }));
        const isColored: Query = { kind: 'metadata', key: 'color', value: color ?? '' };
        const found = living()
          .filter(({ revealed }) => ids?.includes(String(revealed['id'])) ?? true)
          .filter(({ revealed }) => types?.includes(String(revealed['type'])) ?? true)
          .filter((token) => color === null || matches(isColored, token))
          .flatMap((token) => seenBy(rules, 'token:read', token) ?? []);
        expect(answer['data']).toEqual(found.slice(0, 100));
        expect(answer['pagination']).toMatchObject({ total_items: found.length });
      }),
      { numRuns: 60 },
    );
  });
});
