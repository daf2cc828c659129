import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import { passesLuhn } from '#src/domain/luhn.js';
import { finish } from '#src/domain/steps.js';
import { checkIdSource, evaluateId } from '#src/domain/token/fields/id.js';
import { runExpression } from './support.js';

const expressions = createExpressions();

function alias(source: string, data: string, draws: readonly number[]): string | null {
  const parsed = expressions.parse(source, { variables: ['data'], aliases: true });
  if (!parsed.ok) throw new Error(parsed.message);
  let next = 0;
  const random = (maxExclusive: number) => (draws[next++ % draws.length] ?? 0) % maxExclusive;
  const evaluated = runExpression(expressions, parsed.expression, { data }, { random });
  return evaluated.ok && typeof evaluated.value === 'string' ? evaluated.value : null;
}

const draws = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 });
const digits = (min: number, max: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map((all) => all.join(''));

describe('an alias', () => {
  it('for a card is never a possible card number, and keeps the requested digits', () => {
    fc.assert(
      fc.property(digits(13, 19), fc.boolean(), fc.boolean(), draws, (number, bin, last4, drawn) => {
        const got = alias(`{{ data | alias_card: '${bin}', '${last4}' }}`, number, drawn);
        expect(got).toMatch(new RegExp(`^\\d{${number.length}}$`));
        expect(passesLuhn(got ?? '0'), `saw ${got}`).toBe(false);
        const binLength = number.length < 16 ? 6 : 8;
        if (bin) expect(got?.slice(0, binLength)).toBe(number.slice(0, binLength));
        if (last4) expect(got?.slice(-4)).toBe(number.slice(-4));
      }),
    );
  });

  it('that preserves the format does not change the kind of any character', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9 @.-]{1,30}$/), draws, (text, drawn) => {
        const shape = (value: string) => value.replace(/[A-Z]/g, 'A').replace(/[a-z]/g, 'a').replace(/\d/g, '0');
        const got = alias('{{ data | alias_preserve_format }}', text, drawn);
        if (got !== null) expect(shape(got)).toBe(shape(text));
        else expect(text).not.toMatch(/[A-Za-z0-9]/);
      }),
    );
  });

  it('is rejected outside ids, and marks an id as random', () => {
    const source = '{{ data | alias_card }}';
    expect(expressions.parse(source, { variables: ['data'] })).toMatchObject({ ok: false });
    expect(expressions.parseMask(source)).toMatchObject({ ok: false });
    expect(expressions.parse(source, { variables: ['data'], aliases: true })).toMatchObject({
      expression: { random: true },
    });
    expect(expressions.parse('{{ data }}', { variables: ['data'], aliases: true })).toMatchObject({
      expression: { random: false },
    });
  });

  it.each(['alias_card', 'alias_preserve_format', 'alias_preserve_length'])(
    '%s draws no random characters for a value longer than an id, because that would block the process',
    (filter) => {
      const parsed = expressions.parse(`{{ data | ${filter} }}`, { variables: ['data'], aliases: true });
      if (!parsed.ok) throw new Error(parsed.message);
      let drawn = 0;
      const random = () => 0 * ++drawn;
      expect(runExpression(expressions, parsed.expression, { data: '1'.repeat(400) }, { random }).ok).toBe(true);
      expect(drawn).toBe(400);
      expect(runExpression(expressions, parsed.expression, { data: '1'.repeat(401) }, { random })).toEqual({
        ok: false,
        message: `${filter}: the value has more than 400 characters, the longest that an id may be`,
      });
      expect(drawn).toBe(400);
    },
  );

  it('is drawn a limited number of times in one request, counted over all attempts', () => {
    const id = checkIdSource(expressions, '{{ data | alias_preserve_length }}');
    if (!id.ok) throw new Error(JSON.stringify(id.errors));
    let drawn = 0;
    const random = () => 0 * ++drawn;
    const tries = Array.from(
      { length: 10_000 },
      () => finish(evaluateId(expressions, id.value, 'x'.repeat(400), random)).ok,
    );
    expect(tries.slice(0, 10)).toEqual(new Array(10).fill(true));
    expect(tries.at(-1)).toBe(false);
    expect(drawn).toBeLessThan(250_000);
  });
});
