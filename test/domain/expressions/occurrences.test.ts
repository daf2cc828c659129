import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { occurrences } from '#src/domain/expressions/text.js';
import { finish } from '#src/domain/steps.js';

/** Returns a string that counts how many times its characters are read. */
function counted(text: string) {
  const seen = { length: text.length, looks: 0, charCodeAt: (i: number) => text.charCodeAt(i + 0 * ++seen.looks) };
  return seen;
}

describe('a search in a string', () => {
  it('finds the same places as String.split', () => {
    const few = (constraints: { minLength?: number; maxLength: number }) =>
      fc.array(fc.constantFrom('a', 'b', '😀', '\ud83d'), constraints).map((all) => all.join(''));
    fc.assert(
      fc.property(few({ maxLength: 40 }), few({ minLength: 1, maxLength: 5 }), (text, search) => {
        const found = finish(occurrences(text, search));
        expect(found).toHaveLength(text.split(search).length - 1);
        for (const at of found) expect(text.slice(at, at + search.length)).toBe(search);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['b', 'a'],
    ['a', 'b'],
    ['', 'ab'],
  ])('reads each character only a few times: %saaa…%s in aaa…', (before, after) => {
    const text = counted('a'.repeat(100_000));
    const search = counted(`${before}${'a'.repeat(3_000)}${after}`);
    expect(finish(occurrences(text, search))).toEqual([]);
    expect(text.looks + search.looks).toBeLessThan(6 * (text.length + search.length));
  });
});
