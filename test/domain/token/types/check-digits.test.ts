import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRoutingNumber } from '#src/domain/token/types/bank.js';
import { checkCardNumber } from '#src/domain/token/types/card.js';

const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));

/** Appends the digit that makes the number pass the check. */
function completed(start: string, accepts: (text: string) => boolean): string | undefined {
  return [...'0123456789'].map((digit) => start + digit).find(accepts);
}

function changed(text: string, at: number, by: number): string {
  const i = at % text.length;
  return text.slice(0, i) + ((Number(text[i]) + by) % 10) + text.slice(i + 1);
}

const isCard = (text: string) => checkCardNumber(text, 'data', 12).ok;
const isRouting = (text: string) => checkRoutingNumber(text, 'data').ok;

describe('card numbers', () => {
  it.each([
    '4242424242424242',
    '4111111111111111',
    '378282246310005',
    '6304000000000000',
    '5019717010103742',
    '6062826786276634',
    '4000000000000000006',
  ])('accept the valid number %s', (number) => {
    expect(checkCardNumber(number, 'data', 12)).toEqual({ ok: true, value: number });
  });

  it('have exactly one valid check digit for each prefix, so that typing errors are detected', () => {
    fc.assert(
      fc.property(fc.integer({ min: 11, max: 18 }).chain(digits), (start) => {
        expect([...'0123456789'].filter((digit) => isCard(start + digit))).toHaveLength(1);
      }),
    );
  });

  it('are rejected if any single digit of a valid number is changed', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 11, max: 18 }).chain(digits),
        fc.nat(100),
        fc.integer({ min: 1, max: 9 }),
        (start, at, by) => {
          const number = completed(start, isCard) ?? '';
          expect(isCard(number), number).toBe(true);
          expect(isCard(changed(number, at, by)), `${number} -> ${changed(number, at, by)}`).toBe(false);
        },
      ),
    );
  });
});

describe('routing numbers', () => {
  it.each(['021000021', '011401533', '122105155', '091000019'])('accept the valid number %s', (number) => {
    expect(checkRoutingNumber(number, 'data')).toEqual({ ok: true, value: number });
  });

  it('are rejected if all digits are zero, although the checksum is valid', () => {
    expect(checkRoutingNumber('000000000', 'data').ok).toBe(false);
  });

  it('are rejected if any single digit of a valid number is changed', () => {
    fc.assert(
      fc.property(digits(8), fc.nat(100), fc.integer({ min: 1, max: 9 }), (start, at, by) => {
        const number = completed(start, (text) => isRouting(text) || text === '000000000') ?? '';
        expect(isRouting(changed(number, at, by)), `${number} -> ${changed(number, at, by)}`).toBe(false);
      }),
    );
  });
});
