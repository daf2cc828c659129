import { performance } from 'node:perf_hooks';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wordList } from '#src/search/vocabulary/word-list.js';

describe('a list of words', () => {
  test('contains, completes and corrects words in the spelling that it got first', () => {
    const words = wordList(['Customer', 'customer', 'order', 'Über', '__proto__', 'constructor', '_index']);
    expect(words.has('CUSTOMER')).toBe(true);
    expect(words.has('custom')).toBe(false);
    expect(words.complete('cus', 20)).toEqual(['Customer']);
    expect(words.complete('üb', 20)).toEqual(['Über']);
    expect(words.complete('', 2)).toEqual(['__proto__', '_index']);
    expect(words.nearest('costumer')).toBe('Customer');
    expect(words.nearest('constrcutor')).toBe('constructor');
    expect(words.nearest('___proto_')).toBe('__proto__');
    expect(words.nearest('entirely')).toBeUndefined();
  });

  test('finds no similar word for a string that is too short or contains a star', () => {
    const words = wordList(['ab', 'abc', 'customer']);
    for (const text of ['', 'a', 'ax', '********', 'cust*mer', '*']) expect(words.nearest(text), text).toBeUndefined();
    expect(wordList([]).nearest('customer')).toBeUndefined();
  });

  /**
   * lunr builds an automaton from the words, and reads the words back from the automaton. A word that was lost in this
   * process would never be suggested.
   */
  test('finds every word, completes each of its prefixes, and corrects an additional letter', () => {
    const word = fc.string({ unit: fc.constantFrom(...'ab01/_-é🙂'), minLength: 5, maxLength: 12 });
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { minLength: 1, maxLength: 60, selector: (text) => text.normalize('NFKC') }),
        (list) => {
          const words = wordList(list);
          for (const one of list) {
            expect(words.complete(one, 100)).toContain(one);
            expect(words.complete(one.slice(0, 1), 100)).toContain(one);
            expect(words.nearest(`${one}x`)).toBeDefined();
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  /**
   * Threat: an attacker sends a string that makes lunr compute for seconds. For a repetitive word with 196 characters
   * and two edits, lunr needs 18 seconds.
   */
  test('compares hostile words and strings in a limited time', () => {
    const alike = Array.from(
      { length: 2_000 },
      (_, i) => `${'a'.repeat(10 + (i % 60))}${i % 2 ? 'b' : 'a'}${'a'.repeat(i % 31)}`,
    );
    const paths = Array.from({ length: 2_000 }, (_, i) => `/${'pci1/'.repeat(1 + (i % 39))}p${i}/`);
    const words = wordList([...alike, ...paths]);
    for (const text of [
      'a'.repeat(24),
      'a'.repeat(64),
      'a'.repeat(5_000),
      `/${'pci1/'.repeat(4)}`,
      `/${'pci1/'.repeat(39)}`,
    ]) {
      const from = performance.now();
      words.nearest(text);
      expect(performance.now() - from, `${text.length} characters`).toBeLessThan(3_000);
    }
  });
});
