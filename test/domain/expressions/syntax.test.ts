import { describe, expect, it } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import type { Json } from '#src/domain/json.js';
import { evaluate, isRefused, runExpression, runMask } from './support.js';

const expressions = createExpressions();

describe('an expression keeps values or concatenates them', () => {
  const data = { n: 1, o: { a: [1, null] }, s: 'x', none: null, t: true, 'a b': 2, list: [10, { y: 3 }], i: 1 };
  it.each<[string, Json]>([
    ['plain text', 'plain text'],
    ['', ''],
    ['{{ data.n }}', 1],
    ['{{data.o}}', { a: [1, null] }],
    ['{{ data.t }}', true],
    ['{{ data.missing.deeper }}', null],
    ['{{ data.n }}{{ data.s }}', '1x'],
    ['[{{ data.o }}|{{ data.none }}|{{ data.t }}]', '[{"a":[1,null]}||true]'],
    [' {{ data.n }}', ' 1'],
    ['a {{- data.n -}} b', 'a1b'],
    [' {{- data.n -}} ', 1],
    ["{{ data['a b'] }}", 2],
    ['{{ data["list"][1].y }}', 3],
    ['{{ data.list[data.i].y }}', 3],
    ['{{ data.list[-2] }}', 10],
    ['{{ data.list.1.y }}', 3],
    ["{{ 'it''s' }}", { refused: 'x' }],
    ["{{ 'it\\'s }} {{' }}", "it's }} {{"],
    ['{{ 4.5 }}', 4.5],
    ['{{ 9007199254740991 }}', 9007199254740991],
    ['{{ -8.50 }}', -8.5],
    ['{{ data.s | append: 007 | append: 1.0 }}', 'x71'],
    ['{{ nil }}', null],
    ['{{ true }}', true],
    ['{"a":{"b":{{ data.n }}}}', '{"a":{"b":1}}'],
    ['a } b { c', 'a } b { c'],
  ])('%s', (source, expected) => {
    const got = evaluate(source, data);
    if (isRefused(expected)) expect(isRefused(got), `saw ${JSON.stringify(got)}`).toBe(true);
    else expect(got).toEqual(expected);
  });
});

/** These expressions are rejected even in a mask. All other malformed expressions are accepted in a mask. */
const refusedEverywhere = [
  '{{ 12345678901234567890 }}',
  '{{ data | append: -9007199254740993 }}',
  '{{ data | remove: 0.12345678901234567890 }}',
  '{{ data[12345678901234567890] }}',
  '{{ data }}{{ data[data[12345678901234567890]] }}',
  '{{',
  '{{ data',
  '{{ data }',
  'data }}',
  '{{ data }} }}',
  '{{ data {{ data }}',
  '{{{{ data }}}}',
  '{% if data %}{% endif %}',
  '{% raw %}{{ data }}{% endraw %}',
  '{% comment %}',
  '{% # note %}',
  '{% assign x = data %}',
  '{{ (1..3) }}',
  '{{ data | slice: (1..3) }}',
  '{{ (1..data) | first }}',
  '{{ (1.. }}',
  '{{ other }}',
  '{{ data | append: other }}',
  '{{ data[other] }}',
  '{{ empty }}',
  '{{ data | unknown_filter }}',
  '{{ data | map: "a" }}',
  '{{ data | constructor }}',
  '{{ data | toString }}',
  '{{ data | reveal_last }}',
  "{{ data | remove: '' }}",
  '{{ data | last4: 1 }}',
  '{{ data | alias_card }}',
  `{{ data${' | last4'.repeat(21)} }}`,
  `${'x'.repeat(3_991)}{{ data }}`,
];

/** Expressions that are not valid chains of filters. */
const malformed = [
  '{{ }}',
  '{{-}}',
  '{{ data reveal_last: 4 }}',
  '{{ data reveal_last 4 }}',
  '{{ data | reveal_last 4 }}',
  '{{ data | reveal_last: 4 5 }}',
  '{{ data | reveal_last: 4, }}',
  '{{ data | reveal_last: , 4 }}',
  '{{ data | last4: }}',
  '{{ data | }}',
  '{{ data || last4 }}',
  '{{ data | last4 | }}',
  '{{ data , last4 }}',
  '{{ data ) | last4 }}',
  '{{ data. }}',
  '{{ .data }}',
  '{{ data[] }}',
  '{{ data[ }}',
  "{{ data['a' junk] }}",
  "{{ ['data'] }}",
  "{{ 'data'.size }}",
  '{{ data | reveal_last: n: 4 }}',
  '{{ data == 1 }}',
  '{{ data and data }}',
  '{{ not data }}',
  '{{ data contains "a" }}',
  '{{ last 4 of data }}',
  '{{ | last4 }}',
  '{{ (data) }}',
  '{{ (data | last4) }}',
  `{{ data${'[data'.repeat(40)}${']'.repeat(40)} }}`,
  "{{ data's last four }}",
];

describe('rejected expressions', () => {
  it.each([...refusedEverywhere, ...malformed])('%s', (source) => {
    const rejected = { ok: false, message: expect.any(String) };
    expect(expressions.parse(source, { variables: ['data', 'metadata'] })).toEqual(rejected);
  });

  it.each(refusedEverywhere)('are rejected even in a mask: %s', (source) => {
    const rejected = { ok: false, errors: { 'mask.a[0]': [expect.any(String)] } };
    expect(expressions.parseMask({ a: [source] })).toEqual(rejected);
  });

  it('a number in the filters of a detokenize request must not lose digits either', () => {
    expect(expressions.parseFilters('append: 12345678901234567890')).toEqual({
      ok: false,
      message: 'has a number that may lose digits; write it in quotes',
    });
    expect(expressions.parseFilters("append: '12345678901234567890'")).toMatchObject({ ok: true });
  });

  it.each(malformed)('are stored in a mask, where they show nothing: %s', (source) => {
    expect(expressions.parseMask(source)).toEqual({ ok: true, value: source });
    const data = { a: 'secret', last4: 'secret', n: 'secret' };
    expect(runMask(expressions, source, { data })).toEqual({ redacted: true });
    expect(runMask(expressions, `<${source}>`, { data: 'secret' })).not.toMatchObject({
      data: expect.stringContaining('secret'),
    });
  });

  it('metadata is available only if the scope includes it', () => {
    const source = '{{ metadata.region }}';
    expect(expressions.parse(source, { variables: ['data'] })).toMatchObject({ ok: false });
    const parsed = expressions.parse(source, { variables: ['data', 'metadata'] });
    if (!parsed.ok) throw new Error(parsed.message);
    const read = (metadata: Record<string, string> | null) =>
      runExpression(expressions, parsed.expression, { data: 1, metadata });
    expect([read({ region: 'eu' }), read(null)]).toEqual([
      { ok: true, value: 'eu' },
      { ok: true, value: null },
    ]);
  });

  it('a source may have 4,000 characters, counted as code points', () => {
    const scope = { variables: ['data'] } as const;
    expect(expressions.parse('😀'.repeat(4_000), scope)).toMatchObject({ ok: true });
    expect(expressions.parse('😀'.repeat(4_001), scope)).toMatchObject({ ok: false });
  });
});
