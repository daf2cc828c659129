import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalise } from '#src/search/normalise.js';

describe('texts that are the same to a person are the same to search', () => {
  test.for([
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδοσ', 'οδος'],
    ['é', 'e\u0301'],
    ['ﬁle', 'FILE'],
    ['ＡＢＣ', 'abc'],
    ['①', '1'],
    ['K', 'k'],
    ['ǅ', 'ǆ'],
  ])('%s and %s', ([one, other]) => {
    expect(normalise(String(one))).toBe(normalise(String(other)));
  });
});

describe('texts that differ stay apart', () => {
  test.for([
    ['ı', 'i'],
    ['e', 'é'],
    ['a b', 'ab'],
    ['a', 'а'],
  ])('%s and %s', ([one, other]) => {
    expect(normalise(String(one))).not.toBe(normalise(String(other)));
  });
});

test('it is done once: normalising again changes nothing, and case never matters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const once = normalise(text);
      expect(normalise(once)).toBe(once);
      fc.pre(!text.includes('ı'));
      const composed = text.normalize('NFKC');
      expect(normalise(composed.toLowerCase())).toBe(once);
      expect(normalise(composed.toUpperCase())).toBe(once);
    }),
    { numRuns: 2_000 },
  );
});
