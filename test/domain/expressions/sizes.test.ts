import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBudget } from '#src/domain/expressions/budget.js';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import { jsonSize } from '#src/domain/expressions/json-size.js';
import type { Json } from '#src/domain/json.js';
import { evaluate, isRefused, runExpression, runMask } from './support.js';

const limit = 512 * 1024;
const half = 'x'.repeat(limit / 2);

describe('a result above 512 KiB is rejected before it is built', () => {
  it.each<[string, Json]>([
    ["{{ data.t | replace: 'x', data.t }}", { t: half }],
    ['{{ data.t | append: data.t | append: data.t }}', { t: half }],
    ['{{ data.t | prepend: data.t | prepend: data.t }}', { t: half }],
    ["{{ data.t | split: 'x' }}", { t: half }],
    ["{{ data.t | pad_left: 10000, '😀' | replace: '😀', data.t }}", { t: 'abc'.repeat(20) }],
    [`{{ 'x'${" | replace: 'x', 'xxxxxxxxxx'".repeat(20)} }}`, null],
    ['{{ data.t | upcase }}', { t: 'ΐ'.repeat(limit / 4) }],
    ["{{ data.t | reveal_last: 0, '😀' }}", { t: half }],
    ["{{ data.t | reveal: 1, 0, '😀' }}", { t: half }],
    ['{{ data.a | stringify }}', { a: [half, half, half] }],
    ['{{ data.a | last4 }}', { a: [half, half, half] }],
  ])('%s', (source, data) => {
    const heapBefore = process.memoryUsage().heapUsed;
    const got = evaluate(source, data);
    expect(isRefused(got), `saw ${JSON.stringify(got)?.slice(0, 80)}`).toBe(true);
    expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(128 * 1024 * 1024);
  });

  it('a mask that would be too large does no more work than reading the value', () => {
    const sources = ["{{ data | reveal_last: 0, '😀' }}", ...Array(4).fill('{{ data | last4 }}')];
    const masked = runMask(createExpressions(), sources, { data: 'x'.repeat(400_000) });
    expect(masked).toEqual({ redacted: false, data: [null, ...Array(4).fill('xxxx')] });
  });

  it('exactly 512 KiB is accepted', () => {
    expect(evaluate('{{ data | append: data | size }}', half)).toBe(limit);
    expect(evaluate('{{ data.a | append: data.b }}', { a: half, b: `${half}x` })).toEqual({
      refused: expect.stringContaining('512 KiB'),
    });
    expect(evaluate('{{ data | upcase | size }}', half)).toBe(limit / 2);
  });
});

describe('the results for one token stay below 1 MiB', () => {
  const expressions = createExpressions();
  const data = 'x'.repeat(400 * 1024);

  it('over all objects in a mask, and the objects above the limit are null', () => {
    const masked = runMask(expressions, ['{{ data }}', '{{ data | upcase }}', '{{ data }}', '{{ data | last4 }}'], {
      data,
    });
    const lengths = masked.redacted || !Array.isArray(masked.data) ? [] : masked.data.map((item) => item?.length);
    expect(lengths).toEqual([data.length, data.length, undefined, 4]);
  });

  it('over several expressions that share a budget', () => {
    const parsed = expressions.parse('{{ data }}', { variables: ['data'] });
    if (!parsed.ok) throw new Error(parsed.message);
    const budget = createBudget();
    const outcomes = [1, 2, 3].map(() => runExpression(expressions, parsed.expression, { data }, { budget }).ok);
    expect(outcomes).toEqual([true, true, false]);
  });

  it('the message tells whether the results are too big or the filters took too much work', () => {
    const rejection = (source: string) => {
      const parsed = expressions.parse(source, { variables: ['data'] });
      if (!parsed.ok) throw new Error(parsed.message);
      const budget = createBudget();
      const outcomes = Array.from({ length: 7 }, () =>
        runExpression(expressions, parsed.expression, { data }, { budget }),
      );
      return outcomes.find(({ ok }) => !ok);
    };
    expect(rejection('{{ data }}')).toEqual({ ok: false, message: expect.stringContaining('results of all') });
    expect(rejection('{{ data | size }}')).toEqual({ ok: false, message: expect.stringContaining('too much work') });
  });

  it('a chain of filters counts only its largest result', () => {
    const chain = `{{ data${' | upcase | downcase'.repeat(2)} | size }}`;
    expect(evaluate(chain, data)).toBe(data.length);
  });
});

describe('the size of a value as JSON', () => {
  it('equals the length of what JSON.stringify returns', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const plain: Json = JSON.parse(JSON.stringify(value));
        expect(jsonSize(plain)).toBe(Buffer.byteLength(JSON.stringify(plain)));
      }),
    );
    expect(jsonSize('\ud800a\udc00')).toBe(Buffer.byteLength(JSON.stringify('\ud800a\udc00')));
  });

  it('is not counted to the end if the value is too large', () => {
    let looked = 0;
    const endless = Array.from({ length: 10_000 }, () =>
      Object.defineProperty({}, 'a', { enumerable: true, get: () => ++looked }),
    );
    expect(jsonSize(endless, 100)).toBeGreaterThan(100);
    expect(looked).toBeLessThan(50);
  });
});

it('200 objects with 20 filters each may do no more work than a few passes over the largest value', () => {
  expect(createBudget().remainingWorkBytes).toBeLessThanOrEqual(4 * limit);
});

describe('a mask that reads a lot but shows little', () => {
  const expressions = createExpressions();
  const text = 'x'.repeat(500 * 1024);
  const keys: Json = Object.fromEntries(Array.from({ length: 45_000 }, (_, i) => [`k${i}`, 1]));
  const fractions: Json = Array.from({ length: 30_000 }, (_, i) => (i + 0.5) / 30_001);
  const list: Json = Array.from({ length: 250_000 }, () => 1);

  it.each<[string, Json]>([
    [`{{ data${" | remove: 'x'".repeat(20)} }}`, text],
    ['{{ data | size }}', text],
    ['{{ data | slice: 0 }}', text],
    ['{{ data | reveal: 1 }}', text],
    ['{{ 1 | reveal: 0, 0, "X", data }}', text],
    ['{{ data | stringify | size }}', list],
    ['{{ data | last4 }}', list],
    ['{{ data | slice: 0 }}', { list }],
    ['{{ data | append: "x" | last }}', list],
    ['{{ data }}', list],
    ['{{ data | size }}', keys],
    ['{{ data | last4 }}', keys],
    // As text, this list is longer than 512 KiB, so its size must be measured, and the filter rejects the list.
    ['{{ data | last4 }}', fractions],
  ])('is stopped if it contains this object 200 times: %s', (object, data) => {
    const budget = createBudget();
    const allowed = budget.remainingWorkBytes;
    runMask(
      expressions,
      Array.from({ length: 200 }, () => object),
      { data },
      { budget },
    );
    expect(budget.remainingWorkBytes, 'overdrawn by more than one step').toBeGreaterThan(-4 * limit);
    expect(allowed - budget.remainingWorkBytes, 'not noted as work').toBeGreaterThan(allowed / 4);
  });

  it('counts the length of long paths as work, because they are parsed each time', () => {
    const budget = createBudget();
    const allowed = budget.remainingWorkBytes;
    const path = `$${'.a'.repeat(1_900)}`;
    runMask(expressions, new Array(200).fill(`{{ 1 | json: "${path}" }}`), { data: 1 }, { budget });
    expect(allowed - budget.remainingWorkBytes).toBeGreaterThanOrEqual(200 * path.length);
  });
});
