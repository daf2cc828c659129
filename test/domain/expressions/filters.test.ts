import { describe, expect, it } from 'vitest';
import { filterNames } from '#src/domain/expressions/catalogue.js';
import type { Json } from '#src/domain/json.js';
import { evaluate, isRefused } from './support.js';

const card = '3622-7206-2716-5567';
const refused = Symbol('refused');

/**
 * Examples for the filters in docs/contract.md, "Filters". Each row contains the input, the text after the pipe, and
 * the result.
 */
const table: readonly (readonly [Json, string, Json | typeof refused])[] = [
  ['123456', 'last4', '3456'],
  ['12', 'last4', '12'],
  ['a😀b😀c', 'last4', '😀b😀c'],
  [123456, 'last4', '3456'],
  [true, 'last4', 'true'],
  [null, 'last4', null],
  ['123-45-6789', 'reveal_last: 4', 'XXX-XX-6789'],
  ['12-3456789', 'reveal_last: 4', 'XX-XXX6789'],
  ['Sensitive Value', 'reveal_last: 4', 'XXXXXXXXXXXalue'],
  ['36227206271667', "reveal_last: 3, '#'", '###########667'],
  ['1234', 'reveal_last: 4', '1234'],
  ['12-34', 'reveal_last: 0', 'XX-XX'],
  ['12345', "reveal_last: '2'", 'XXX45'],
  ['😀😀ab', 'reveal_last: 2', 'XXab'],
  [null, 'reveal_last: 4', null],
  ['12345', 'reveal_last', refused],
  ['12345', 'reveal_last: -1', refused],
  ['12345', 'reveal_last: 1.5', refused],
  ['12345', "reveal_last: 2, 'XX'", refused],
  ['12345', "reveal_last: 2, ''", refused],
  ['12345', "reveal_last: 2, '#', 3", refused],
  [card, "reveal: 7, 4, '#', '-'", '3622-72##-####-5567'],
  [card, 'reveal: 6', '3622-7XXXXXXXXXXXXX'],
  [card, 'reveal: 7, 5', '3622-72XXXXXXX-5567'],
  [card, 'reveal: 10, 9', 'XXXXXXXXXXXXXXXXXXX'],
  ['12-34', "reveal: 2, 2, 'X', '-'", 'XXXXX'],
  ['12-34', 'reveal: 2, 2', 'XXXXX'],
  ['1234', "reveal: 0, 0, 'X', '1234'", 'XXXX'],
  ['abc', 'reveal', 'XXX'],
  ['abcd', 'reveal: 1, 1', 'aXXd'],
  ['éàü', 'reveal: 1', 'éXX'],
  ['3622720627165567', 'card_bin', '36227206'],
  ['378282246310005', 'card_bin', '378282'],
  [card, "card_bin: '-'", '3622-7206'],
  [card, 'card_bin', '36227206'],
  ['123456', 'card_bin', null],
  [card, "card_mask: 'true','true','#','-'", '3622-7206-####-5567'],
  [card, "card_mask: 'false', 'false', 'X', '-'", 'XXXX-XXXX-XXXX-XXXX'],
  [card, "card_mask: 'true', 'false', 'X', '-'", '3622-7206-XXXX-XXXX'],
  [card, 'card_mask: false, true', 'XXXXXXXXXXXXXXX5567'],
  [card, 'card_mask', 'XXXXXXXXXXXXXXXXXXX'],
  ['123456-7890', "card_mask: 'true','true'", 'XXXXXXXXXXX'],
  ['1234567890', "card_mask: 'true','true'", 'XXXXXXXXXX'],
  [card, "card_mask: 'yes'", refused],
  [card, "card_mask: 'constructor'", refused],
  [{ b: [1, 'x'], a: null }, 'stringify', '{"b":[1,"x"],"a":null}'],
  ['text', 'stringify', 'text'],
  [8.99, 'stringify', '8.99'],
  [null, 'stringify', null],
  [{ a: [{ 'b c': 7 }] }, "json: '$.a[0][\\'b c\\']'", 7],
  [{ a: [1, 2] }, 'json: "$.a[-1]"', 2],
  [{ a: 1 }, "json: '$'", { a: 1 }],
  [{ a: 1 }, "json: '$.b.c'", null],
  [{ a: [1, 2] }, "json: '$.a[*]'", refused],
  [{ a: 1 }, "json: '$..a'", refused],
  [{ a: [1, 2, 3] }, "json: '$.a[0:2]'", refused],
  [{ a: [1, 2, 3] }, "json: '$.a[0,1]'", refused],
  [{ a: 1 }, "json: 'a'", refused],
  [{ a: 1 }, "json: '$.constructor'", null],
  ['1234', "pad_left: 6, '0'", '001234'],
  ['1234', "pad_left: 2, '0'", '1234'],
  ['😀', "pad_left: 3, '😀'", '😀😀😀'],
  [null, "pad_left: 6, '0'", null],
  ['1', "pad_left: 10001, '0'", refused],
  ['1', 'pad_left: 6', refused],
  ['1234', "pad_right: 6, 'X'", '1234XX'],
  [3.5, 'to_string', '3.5'],
  [false, 'to_string', 'false'],
  [null, 'to_string', null],
  [{}, 'to_string', refused],
  ['042', 'to_number', 42],
  ['-3.25', 'to_number', -3.25],
  [7, 'to_number', 7],
  [null, 'to_number', null],
  ['', 'to_number', refused],
  ['4x', 'to_number', refused],
  ['0x10', 'to_number', refused],
  ['12345678901234567890', 'to_number', refused],
  ['1e999', 'to_number', refused],
  ['9007199254740991', 'to_number', 9007199254740991],
  ['9007199254740993', 'to_number', refused],
  ['9007199254740993.0', 'to_number', refused],
  ['0.1234567890123456789', 'to_number', refused],
  ['1e-400', 'to_number', refused],
  ['1e16', 'to_number', refused],
  ['+007.50', 'to_number', 7.5],
  ['00000000000000000000000000000042', 'to_number', 42],
  ['1e3', 'to_number', 1000],
  [true, 'to_number', refused],
  [[], 'to_number', refused],
  ['True', 'to_boolean', true],
  ['false', 'to_boolean', false],
  [true, 'to_boolean', true],
  [null, 'to_boolean', null],
  ['yes', 'to_boolean', refused],
  [1, 'to_boolean', refused],
  ['123-45-6789', "remove: '-'", '123456789'],
  ['a', "remove: ''", refused],
  ['a', 'remove: nil', refused],
  ['a.b.c', "replace: '.', '$&'", 'a$&b$&c'],
  ['a.b', "replace: '.'", 'ab'],
  ['a', "replace: '', 'x'", refused],
  ['a@b', "split: '@'", ['a', 'b']],
  [',a,,b,,', "split: ','", ['', 'a', '', 'b']],
  ['a', "split: ''", refused],
  [[1, 2], 'first', 1],
  ['😀x', 'first', '😀'],
  [[], 'first', null],
  [{ a: 1 }, 'first', null],
  [[1, 2], 'last', 2],
  ['x😀', 'last', '😀'],
  ['', 'last', null],
  ['John', 'slice: 0', 'J'],
  ['a😀bc', 'slice: 1, 2', '😀b'],
  ['Liquid', 'slice: -3, 2', 'ui'],
  ['ab', 'slice: -3', ''],
  [[1, 2, 3], 'slice: 1, 5', [2, 3]],
  ['ab', "slice: 'x'", refused],
  ['straße', 'upcase', 'STRASSE'],
  ['ABC', 'downcase', 'abc'],
  ['a', "append: 'b'", 'ab'],
  [null, "append: 'b'", 'b'],
  ['a', 'append', refused],
  ['a', "prepend: 'b'", 'ba'],
  ['  a b\n', 'strip', 'a b'],
  ['a😀', 'size', 2],
  [[1, 2, 3], 'size', 3],
  [{ a: 1 }, 'size', 1],
  [null, 'size', 0],
  ['AB-12', 'alias_preserve_format', 'AB-23'],
  ['ABC12', 'alias_preserve_format: 3, 1', 'ABC02'],
  ['ab', 'alias_preserve_format: 1, 1', refused],
  ['--', 'alias_preserve_format', refused],
  ['x-y', 'alias_preserve_length', 'abc'],
  ['wxyz', 'alias_preserve_length: 1, 2', 'wayz'],
  [card, "alias_card: 'true', 'true'", '3622-7206-0123-5567'],
  [card, "alias_card: 'maybe'", refused],
  ['123456789', "alias_card: 'true', 'true'", refused],
  ['John 4111', 'alias_card', refused],
];

describe('a filter does what the contract says', () => {
  it.each(table)('%j | %s', (input, filter, expected) => {
    const got = evaluate(`{{ data | ${filter} }}`, input);
    if (expected === refused) expect(isRefused(got), `saw ${JSON.stringify(got)}`).toBe(true);
    else expect(got).toEqual(expected);
  });

  it('every filter has a row in this table', () => {
    const tested = new Set(table.map(([, filter]) => /^\w+/.exec(filter)?.[0]));
    expect(filterNames.filter((name) => !tested.has(name))).toEqual([]);
  });

  it('the arguments can come from the data', () => {
    expect(evaluate('{{ data.text | reveal_last: data.n, data.c }}', { text: 'abcdef', n: 2, c: '*' })).toBe('****ef');
    expect(isRefused(evaluate('{{ data.text | reveal_last: data.none }}', { text: 'abc' }))).toBe(true);
    expect(isRefused(evaluate('{{ data.text | remove: data.none }}', { text: 'abc' }))).toBe(true);
  });

  it('filters can be chained', () => {
    expect(evaluate("{{ data.name | split: ' ' | last | upcase }}", { name: 'John Doe' })).toBe('DOE');
  });
});
