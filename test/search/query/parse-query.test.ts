import { describe, expect, test } from 'vitest';
import { parseQuery } from '#src/search/query/parse-query.js';
import type { Query } from '#src/search/query/syntax-tree.js';

const type = (value: string): Query => ({ kind: 'text', field: 'type', value });
const [a, b, c] = [type('a'), type('b'), type('c')];
const and = (...of: Query[]): Query => ({ kind: 'and', of });
const or = (...of: Query[]): Query => ({ kind: 'or', of });
const not = (of: Query): Query => ({ kind: 'not', of });
const text = (field: 'id' | 'data' | 'fingerprint' | 'created_by' | 'modified_by', value: string): Query => ({
  kind: 'text',
  field,
  value,
});
const metadata = (key: string, value: string): Query => ({ kind: 'metadata', key, value });
const container = (path: string, within = false): Query => ({ kind: 'container', path, within });
const at = (iso: string): number => Date.parse(iso);
const created = (from: string | null, to: string | null): Query => ({
  kind: 'date',
  field: 'created_at',
  from: from === null ? null : at(from),
  to: to === null ? null : at(to),
});

function parsed(query: string): Query | string {
  const result = parseQuery(query);
  return result.ok ? result.query : result.message;
}

describe('an empty, blank or missing query finds everything', () => {
  test.for(['', ' ', '\t\n '])('%j', (query) => {
    expect(parsed(query)).toEqual({ kind: 'everything' });
  });
});

describe('NOT binds more tightly than AND, AND binds more tightly than OR, and parentheses group', () => {
  test.for<[string, Query]>([
    ['type:a', a],
    ['  type:a  ', a],
    ['type:a AND type:b', and(a, b)],
    ['type:a OR type:b', or(a, b)],
    ['type:a AND type:b AND type:c', and(a, b, c)],
    ['type:a AND type:b OR type:c', or(and(a, b), c)],
    ['type:a OR type:b AND type:c', or(a, and(b, c))],
    ['(type:a OR type:b) AND type:c', and(or(a, b), c)],
    ['(((type:a)))', a],
    ['NOT type:a AND type:b', and(not(a), b)],
    ['NOT type:a OR type:b', or(not(a), b)],
    ['NOT (type:a AND type:b)', not(and(a, b))],
    ['NOT NOT type:a', not(not(a))],
    ['type:a AND (type:b AND type:c)', and(a, and(b, c))],
    ['(type:a)AND(type:b)OR NOT(type:c)', or(and(a, b), not(c))],
  ])('%s', ([query, tree]) => {
    expect(parsed(query)).toEqual(tree);
  });
});

describe('NOT can be written as ! or -, and directly after another term it means AND NOT', () => {
  test.for<[string, Query]>([
    ['!type:a', not(a)],
    ['-type:a', not(a)],
    ['! type:a', not(a)],
    ['!!type:a', not(not(a))],
    ['-!type:a', not(not(a))],
    ['-(type:a OR type:b)', not(or(a, b))],
    ['type:a NOT type:b', and(a, not(b))],
    ['type:a -type:b', and(a, not(b))],
    ['type:a !type:b', and(a, not(b))],
    ['type:a - type:b', and(a, not(b))],
    ['type:a AND -type:b', and(a, not(b))],
    ['type:a AND NOT type:b', and(a, not(b))],
    ['type:a OR -type:b', or(a, not(b))],
    ['type:a OR type:b NOT type:c', or(a, and(b, not(c)))],
    ['type:a NOT type:b -type:c', and(a, not(b), not(c))],
    ['type:a NOT type:b AND type:c', and(a, not(b), c)],
    ['type:a-b', type('a-b')],
  ])('%s', ([query, tree]) => {
    expect(parsed(query)).toEqual(tree);
  });
});

describe('every field of docs/contract.md, "Search fields", accepts a value', () => {
  test.for<[string, Query]>([
    ['id:3f2504e0-4f89', text('id', '3f2504e0-4f89')],
    ['data:123-45-6789', text('data', '123-45-6789')],
    ['fingerprint:AbC', text('fingerprint', 'AbC')],
    ['created_by:x', text('created_by', 'x')],
    ['modified_by:x', text('modified_by', 'x')],
    ['metadata.key:v', metadata('key', 'v')],
    ['metadata.a.b_c-d.1:v', metadata('a.b_c-d.1', 'v')],
    ['metadata.Straße:Größe', metadata('Straße', 'Größe')],
    ['metadata."my key":v', metadata('my key', 'v')],
    ['metadata."a\\"b\\\\c":"d\\"e\\\\f"', metadata('a"b\\c', 'd"e\\f')],
    ['metadata.key:""', metadata('key', '')],
    ['metadata.metadata.x:v', metadata('metadata.x', 'v')],
  ])('%s', ([query, tree]) => {
    expect(parsed(query)).toEqual(tree);
  });
});

describe('some values need no quotes, and a backslash in quotes escapes a character', () => {
  test.for(["a-b_c.d@e:f/g+h'i,j#k$l%m&n=o~p", 'привет', 'हिन्दी', '日本語', '٣٤', '-5', 'AND', 'not', 'a:b:c'])(
    'data:%s',
    (value) => {
      expect(parsed(`data:${value}`)).toEqual(text('data', value));
    },
  );

  test.for<[string, string]>([
    ['"two words"', 'two words'],
    ['"*"', '*'],
    ['"a*b?"', 'a*b?'],
    ['"(x) AND [y TO z]"', '(x) AND [y TO z]'],
    ['"quote \\" and backslash \\\\"', 'quote " and backslash \\'],
    ['"😀"', '😀'],
    ['" "', ' '],
  ])('data:%s', ([written, value]) => {
    expect(parsed(`data:${written}`)).toEqual(text('data', value));
  });
});

describe('containers mean the same with and without quotes, and * is allowed only at the end of the path', () => {
  test.for<[string, Query]>([
    ['container:/pci/', container('/pci/')],
    ['container:"/pci/"', container('/pci/')],
    ['container:/pci/*', container('/pci/', true)],
    ['container:"/pci/*"', container('/pci/', true)],
    ['container:/', container('/')],
    ['container:/*', container('/', true)],
    ['container:/pci/high/*)'.slice(0, -1), container('/pci/high/', true)],
    ['(container:/pci/*)', container('/pci/', true)],
  ])('%s', ([query, tree]) => {
    expect(parsed(query)).toEqual(tree);
  });
});

describe('dates may be single days, or ranges with either kind of bracket and with open ends', () => {
  test.for<[string, Query]>([
    ['created_at:2026-01-31', created('2026-01-31T00:00:00Z', '2026-02-01T00:00:00Z')],
    ['created_at:"2026-01-31"', created('2026-01-31T00:00:00Z', '2026-02-01T00:00:00Z')],
    ['created_at:2026-01-31T10:00:00Z', created('2026-01-31T10:00:00.000Z', '2026-01-31T10:00:00.001Z')],
    ['created_at:2026-01-31T10:00:00.250+00:00', created('2026-01-31T10:00:00.250Z', '2026-01-31T10:00:00.251Z')],
    // These times are between two milliseconds.
    ['created_at:[2026-01-31T10:00:00.2509Z TO *]', created('2026-01-31T10:00:00.251Z', null)],
    ['created_at:{2026-01-31T10:00:00.2509Z TO *}', created('2026-01-31T10:00:00.251Z', null)],
    ['created_at:[* TO 2026-01-31T10:00:00.2509Z]', created(null, '2026-01-31T10:00:00.251Z')],
    ['created_at:{* TO 2026-01-31T10:00:00,250000001Z}', created(null, '2026-01-31T10:00:00.251Z')],
    ['created_at:2026-01-31T10:00:00.2501Z', created('2026-01-31T10:00:00.251Z', '2026-01-31T10:00:00.251Z')],
    ['created_at:[2026-01-31T10:00:00.250000000Z TO *}', created('2026-01-31T10:00:00.250Z', null)],
    ['created_at:{* TO 2026-01-31T10:00:00.2500Z}', created(null, '2026-01-31T10:00:00.250Z')],
    ['created_at:[2026-01-01 TO 2026-01-31]', created('2026-01-01T00:00:00Z', '2026-01-31T00:00:00.001Z')],
    ['created_at:{2026-01-01 TO 2026-01-31}', created('2026-01-01T00:00:00.001Z', '2026-01-31T00:00:00Z')],
    ['created_at:[2026-01-01 TO 2026-01-31}', created('2026-01-01T00:00:00Z', '2026-01-31T00:00:00Z')],
    ['created_at:{2026-01-01 TO 2026-01-31]', created('2026-01-01T00:00:00.001Z', '2026-01-31T00:00:00.001Z')],
    ['created_at:[ 2026-01-01  TO  * ]', created('2026-01-01T00:00:00Z', null)],
    ['created_at:{* TO 2026-01-31}', created(null, '2026-01-31T00:00:00Z')],
    ['created_at:[* TO *]', created(null, null)],
    ['created_at:["2026-01-01" TO "2026-01-31"}', created('2026-01-01T00:00:00Z', '2026-01-31T00:00:00Z')],
    ['created_at:[2026-01-31 TO 2026-01-01}', created('2026-01-31T00:00:00Z', '2026-01-01T00:00:00Z')],
    [
      'modified_at:[2026-01-01T12:30 TO *]',
      { kind: 'date', field: 'modified_at', from: at('2026-01-01T12:30:00Z'), to: null },
    ],
  ])('%s', ([query, tree]) => {
    expect(parsed(query)).toEqual(tree);
  });
});

describe('the limits on a query: 2,000 characters, 64 terms and 32 levels', () => {
  const terms = (count: number) => Array.from({ length: count }, () => 'type:a').join(' OR ');

  test('accept a query that reaches them', () => {
    expect(parseQuery(`data:"${'x'.repeat(2_000 - 7)}"`).ok).toBe(true);
    expect(parseQuery(`data:"${'😀'.repeat(2_000 - 7)}"`).ok, 'characters, not UTF-16 units').toBe(true);
    expect(parseQuery(terms(64)).ok).toBe(true);
    expect(parseQuery(`${'('.repeat(32)}type:a${')'.repeat(32)}`).ok).toBe(true);
    expect(parseQuery(`${'!'.repeat(32)}type:a`).ok).toBe(true);
  });

  test('reject a query that exceeds them', () => {
    expect(parsed(`data:"${'x'.repeat(2_001 - 7)}"`)).toBe('a query can have at most 2000 characters');
    expect(parsed(`data:"${'😀'.repeat(2_001 - 7)}"`)).toBe('a query can have at most 2000 characters');
    expect(parsed(terms(65))).toBe('a query can have at most 64 terms (at character 641)');
    expect(parsed(`${'('.repeat(33)}type:a${')'.repeat(33)}`)).toMatch(/^a query can be nested at most 32 levels deep/);
    expect(parsed(`${'!'.repeat(33)}type:a`)).toMatch(/^a query can be nested at most 32 levels deep/);
    expect(parsed(`${'!('.repeat(17)}type:a${')'.repeat(17)}`)).toMatch(
      /^a query can be nested at most 32 levels deep/,
    );
  });
});
