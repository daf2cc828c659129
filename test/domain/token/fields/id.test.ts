import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkId } from '#src/domain/token/fields/id.js';

describe('ids', () => {
  it.each(['abc', 'a b', '...', 'a.b_c-d:e@f', 'Übergröße', '日本語', '💳💳💳', '💳'.repeat(400), 'x'.repeat(400)])(
    'stores %j unchanged',
    (id) => {
      expect(checkId(id)).toEqual({ ok: true, value: id });
    },
  );

  it.each([
    ...[...'#/\\+?[]|&=%<>{}^'].map((character) => `id${character}id`),
    ...['\u0000', '\n', '\u001f', '\u007f', '\u0085', '\ud800', '\udc00', '\udc00\ud800'].map((text) => `id${text}id`),
    '',
    'ab',
    '💳💳',
    'x'.repeat(401),
    '💳'.repeat(401),
    'x'.repeat(100_000),
  ])('rejects %j', (id) => {
    const checked = checkId(id);
    expect(checked.ok ? checked.value : Object.keys(checked.errors)).toEqual(['id']);
  });

  it.each([null, 123, true, ['abc'], { id: 'abc' }])('rejects %j, which is not a string', (id) => {
    expect(checkId(id).ok).toBe(false);
  });

  it('counts code points, so that the limit does not depend on the script', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'ß', '語', '💳'), maxLength: 410 }), (id) => {
        const characters = [...id].length;
        expect(checkId(id).ok, `${characters} characters`).toBe(characters >= 3 && characters <= 400);
      }),
    );
  });
});
