import { describe, expect, it } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import type { Json } from '#src/domain/json.js';
import { mask, runMask } from './support.js';

const expressions = createExpressions();

describe('a masked read', () => {
  const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };

  it('applies a card’s default mask', () => {
    const defaultMask = {
      number: '{{ data.number | reveal_last: 4 }}',
      expiration_month: '{{ data.expiration_month }}',
      expiration_year: '{{ data.expiration_year }}',
    };
    expect(mask(defaultMask, card)).toEqual({
      number: 'XXXXXXXXXXXX4242',
      expiration_month: 12,
      expiration_year: 2030,
    });
    expect(mask(defaultMask, { number: card.number })).toEqual({ number: 'XXXXXXXXXXXX4242' });
  });

  it('drops null members of objects, keeps null items in lists, and redacts the data if the whole mask is null', () => {
    const nothing = '{{ data.none }}';
    expect(mask({ a: nothing, b: [nothing, 1, null], c: { d: nothing }, e: null }, {})).toEqual({
      b: [null, 1, null],
      c: {},
    });
    expect(mask(nothing, {})).toBeUndefined();
    expect(mask(null, {})).toBeUndefined();
  });

  it('keeps values that contain no expression', () => {
    expect(mask({ a: 1, b: false, c: 'text' }, 'secret')).toEqual({ a: 1, b: false, c: 'text' });
  });

  it('shows null for the object that fails, and still shows the text around it', () => {
    expect(mask('a{{ data | to_number }}b{{ data | last4 }}', 'secret')).toBe('abcret');
    expect(mask({ a: "{{ data | json: '$..x' }}", b: '{{ data | to_boolean }}' }, 'secret')).toEqual({});
    expect(mask('a{{ data reveal_last: 4 }}b', 'secret')).toBe('ab');
  });

  it('can use metadata', () => {
    const masked = runMask(expressions, '{{ metadata.a }}', { data: 1, metadata: { a: 'x' } });
    expect(masked).toEqual({ redacted: false, data: 'x' });
  });

  it('names the location of every error', () => {
    const checked = expressions.parseMask({ ok: 1, number: '{{', list: ['x', '{{ data | nope }}'], 'a b': '}}' });
    expect(checked.ok ? [] : Object.keys(checked.errors)).toEqual(['mask.number', 'mask.list[1]', 'mask["a b"]']);
  });

  it('accepts up to 200 objects', () => {
    const objects = (count: number) => Array.from({ length: count }, () => '{{ data }}');
    expect(expressions.parseMask(objects(200))).toMatchObject({ ok: true });
    expect(expressions.parseMask(objects(201))).toMatchObject({ ok: false, errors: { mask: [expect.any(String)] } });
    expect(expressions.parseMask('{{ data }}'.repeat(201))).toMatchObject({ ok: false });
  });

  it('accepts up to 10,000 values, and stops reading a longer mask', () => {
    let looked = 0;
    const texts = (count: number): Json =>
      new Proxy(new Array<string>(count).fill('text'), {
        get(all, key) {
          if (/^\d+$/.test(String(key))) looked++;
          return Reflect.get(all, key);
        },
      });
    expect(expressions.parseMask(texts(9_999))).toMatchObject({ ok: true });
    looked = 0;
    expect(expressions.parseMask(texts(1_000_000))).toEqual({
      ok: false,
      errors: { mask: ['has more than 10000 values'] },
    });
    expect(looked).toBeLessThan(10_010);
    looked = 0;
    expect(expressions.parseMask([texts(1_000), '{{ data }}'.repeat(201), texts(1_000)])).toMatchObject({ ok: false });
    expect(looked).toBe(1_000);
  });

  it('hides the whole number of a short bank account if default masks must hide short values', () => {
    const accountMask = { account_number: '{{ data.account_number | reveal_last: 4 }}', routing: '{{ data.routing }}' };
    const data = { account_number: '123', routing: '021000021' };
    expect(runMask(expressions, accountMask, { data }, { hideShortValues: true })).toEqual({
      redacted: false,
      data: { account_number: 'XXX', routing: '021000021' },
    });
    expect(runMask(expressions, accountMask, { data })).toMatchObject({ data: { account_number: '123' } });
    const long = runMask(expressions, '{{ data | reveal_last: 4 }}', { data: '12345' }, { hideShortValues: true });
    expect(long).toEqual({ redacted: false, data: 'X2345' });
  });

  it('does not set a prototype if the mask contains such a key', () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": "{{ data }}"}}');
    const masked = runMask(expressions, hostile, { data: 'x' });
    expect(masked.redacted ? null : Object.getPrototypeOf(masked.data)).toBe(Object.prototype);
  });
});
