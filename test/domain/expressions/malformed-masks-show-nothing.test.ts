import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import { runMask } from './support.js';

const expressions = createExpressions();
const secret = 'S3CR3T-4242';

/**
 * Matches the well-formed expressions that are meant to show the value. If any other mask shows the value, that is a
 * bug.
 */
const space = '[\\s]*';
const showsOnPurpose = new RegExp(`\\{\\{-?${space}data${space}(\\|${space}strip${space})*-?\\}\\}`);

describe('a mistake in a mask never shows the value', () => {
  const piece = fc.constantFrom(
    'data',
    ' ',
    ' ',
    '|',
    'reveal_last',
    'strip',
    ':',
    '4',
    ',',
    '.',
    '[',
    ']',
    '(',
    ')',
    "'",
    '"',
    '-',
    'x',
    '=',
    '==',
    'and',
    '..',
    '}',
    '{',
    '\\',
    '%',
    '\u180e',
    '|',
  );
  it('whatever the object contains', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const mask = `{{ data${pieces.join('')} }}`;
        if (!expressions.parseMask(mask).ok) return;
        const masked = runMask(expressions, mask, { data: secret });
        const shows = JSON.stringify(masked).includes(secret);
        if (shows) expect(mask.replaceAll('\u180e', ''), 'showed the value').toMatch(showsOnPurpose);
      }),
      { numRuns: 5_000 },
    );
  });
});
