import { describe, expect, it } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import { createLru } from '#src/domain/lru.js';
import { runMask } from './support.js';

const scope = { variables: ['data'] } as const;

function parse(expressions: ReturnType<typeof createExpressions>, source: string) {
  const parsed = expressions.parse(source, scope);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.expression;
}

describe('compiled expressions are cached within limits', () => {
  it('the same source is compiled only once', () => {
    const expressions = createExpressions();
    expect(parse(expressions, '{{ data }}')).toBe(parse(expressions, '{{ data }}'));
  });

  it('entries above the limit are dropped, and the least recently used ones are dropped first', () => {
    const expressions = createExpressions({ cacheEntriesMax: 2 });
    const first = parse(expressions, 'a');
    const second = parse(expressions, 'b');
    parse(expressions, 'a');
    parse(expressions, 'c');
    expect(parse(expressions, 'a')).toBe(first);
    expect(parse(expressions, 'b')).not.toBe(second);
  });

  it('a source with more than 4,000 UTF-16 units is not cached', () => {
    const expressions = createExpressions();
    const long = '😀'.repeat(2_001);
    expect(parse(expressions, long)).not.toBe(parse(expressions, long));
  });

  it('a mask whose JSON has more than 4,000 UTF-16 units is not cached', () => {
    const expressions = createExpressions();
    /** Returns how often the second evaluation looks at the keys of a mask of this size. */
    const looks = (size: number): number => {
      let looked = 0;
      const mask = new Proxy(
        { a: 'x'.repeat(size) },
        {
          ownKeys(target) {
            looked += 1;
            return Reflect.ownKeys(target);
          },
        },
      );
      runMask(expressions, mask, { data: 1 });
      looked = 0;
      runMask(expressions, mask, { data: 1 });
      return looked;
    };
    expect(looks(3_990)).toBeLessThan(looks(4_000));
  });

  it('an expression that was compiled for one scope is not used for a scope with other permissions', () => {
    const expressions = createExpressions();
    const alias = '{{ data | alias_card }}';
    const slip = '{{ data reveal_last: 4 }}';
    expect(expressions.parse(alias, { variables: ['data'], aliases: true }).ok).toBe(true);
    expect(expressions.parse(alias, scope).ok).toBe(false);
    expect(expressions.parseMask('{{ metadata.a }}').ok).toBe(true);
    expect(expressions.parse('{{ metadata.a }}', scope).ok).toBe(false);
    expect(expressions.parseMask(slip).ok).toBe(true);
    expect(expressions.parse(slip, scope).ok).toBe(false);
  });

  it('an empty cache returns nothing', () => {
    const lru = createLru<number>(1);
    expect(lru.get('a')).toBeUndefined();
    lru.set('a', 1);
    lru.set('a', 2);
    expect(lru.get('a')).toBe(2);
  });
});
