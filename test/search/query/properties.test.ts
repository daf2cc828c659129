import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWellFormed } from '#src/domain/text.js';
import { parseQuery } from '#src/search/query/parse-query.js';
import { queries, termCount } from '../arbitraries.js';
import { printQuery } from '../print-query.js';

const wellFormed = fc.string({ unit: 'binary', maxLength: 12 }).filter(isWellFormed);
const anyQuery = queries({
  text: () => wellFormed,
  metadata: fc.record({ key: wellFormed.filter((key) => key !== ''), value: wellFormed }),
  path: fc
    .array(fc.constantFrom('pci', 'a_b', '9', 'x-y'), { maxLength: 3 })
    .map((segments) => `/${segments.map((segment) => `${segment}/`).join('')}`),
  instant: fc.option(
    fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true }).map((date) => date.getTime()),
  ),
});

test('a printed query parses to the same tree', () => {
  fc.assert(
    fc.property(anyQuery, (query) => {
      fc.pre(termCount(query) <= 64);
      const text = printQuery(query);
      fc.pre(text.length <= 2_000);
      expect(parseQuery(text)).toEqual({ ok: true, query });
    }),
    { numRuns: 500 },
  );
});

/**
 * The text is a sequence of meaningful pieces. If it consisted of random characters, the parser would reject almost
 * every text at the first character.
 */
const pieces = fc.constantFrom(
  'type:',
  'metadata.',
  'metadata."',
  'container:',
  'created_at:',
  'AND',
  'OR',
  'NOT',
  'TO',
  'to',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '!',
  '-',
  '*',
  '"',
  '\\',
  ':',
  '/',
  ' ',
  'a',
  'card',
  '2026-01-31',
  '\ud800',
  '😀',
  'é',
  '\0',
);

describe('the parser never throws or hangs', () => {
  test('on random pieces', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        const result = parseQuery(parts.join(''));
        if (!result.ok) expect(result.message).toMatch(/\(at character \d+\)$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('on random text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        parseQuery(text);
      }),
      { numRuns: 1_000 },
    );
  });

  /** Threat: an attacker sends a query of 2,000 characters that blocks the service's thread for seconds. */
  test.for([
    '('.repeat(2_000),
    '!'.repeat(2_000),
    '-'.repeat(2_000),
    `${'('.repeat(999)}${')'.repeat(999)}`,
    'a'.repeat(2_000),
    `${'a'.repeat(1_999)}:`,
    `data:${'a'.repeat(1_995)}`,
    `data:"${'\\\\'.repeat(996)}`,
    `data:"${'\\"'.repeat(996)}`,
    ' '.repeat(2_000),
    `data:a${' '.repeat(1_990)}b`,
    'type:a OR '.repeat(199),
    `metadata.${'.'.repeat(1_990)}`,
    `created_at:[${'*'.repeat(1_980)}`,
    `created_at:[*${' '.repeat(1_980)}`,
    'x'.repeat(4 * 1024 * 1024),
  ])('on long input %#', (text) => {
    // The shortest of several runs counts, because another process can slow down a single run.
    const times = [1, 2, 3, 4, 5].map(() => {
      const startedAt = performance.now();
      parseQuery(text);
      return performance.now() - startedAt;
    });
    expect(Math.min(...times)).toBeLessThan(50);
  });
});

test('an error message repeats nothing from the query', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.constant('Zq7Zq7')), { minLength: 1, maxLength: 20 }), (parts) => {
      const result = parseQuery(parts.join(''));
      if (!result.ok) expect(result.message).not.toContain('Zq7');
    }),
    { numRuns: 500 },
  );
});
