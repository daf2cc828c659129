import { describe, expect, it } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { checkMetadata } from '#src/domain/token/fields/metadata.js';

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

describe('metadata', () => {
  it.each([
    {},
    { key: 'value' },
    { key: '' },
    { constructor: 'plain data', toString: 'too' },
    { ['k'.repeat(100)]: 'v'.repeat(1_000) },
    { ['🔑'.repeat(100)]: '💳'.repeat(1_000) },
    { 'a.b c[0]': 'any\ncharacter' },
    keys(50),
  ])('stores %j unchanged', (metadata) => {
    expect(checkMetadata(metadata)).toEqual({ ok: true, value: metadata });
  });

  it.each<[Json, readonly string[]]>([
    [null, ['metadata']],
    ['text', ['metadata']],
    [[], ['metadata']],
    [keys(51), ['metadata']],
    [{ '': 'v' }, ['metadata']],
    [{ ['k'.repeat(101)]: 'v' }, ['metadata']],
    [{ 'k\ud800': 'v' }, ['metadata']],
    [{ key: null }, ['metadata.key']],
    [{ key: 1, other: 'v', more: { a: 'b' } }, ['metadata.key', 'metadata.more']],
    [{ key: 'v'.repeat(1_001) }, ['metadata.key']],
    [{ key: '💳'.repeat(1_001) }, ['metadata.key']],
    [{ key: '\udc00' }, ['metadata.key']],
    [{ 'john smith': 5, 'a.b': 5 }, ['metadata["john smith"]', 'metadata["a.b"]']],
  ])('rejects %j with an error for %j', (metadata, paths) => {
    const checked = checkMetadata(metadata);
    expect(checked.ok ? checked.value : Object.keys(checked.errors)).toEqual(paths);
  });

  it('treats a key such as __proto__ as a plain key', () => {
    const checked = checkMetadata(JSON.parse('{"__proto__":"x"}'));
    expect(checked.ok && Object.entries(checked.value)).toEqual([['__proto__', 'x']]);
  });
});

it('does not repeat a key that could be a card number in an error', () => {
  const checked = checkMetadata({ '4242 4242 4242 4242': 1, '٤٢٤٢٤٢': 1, ['k'.repeat(41)]: 'x'.repeat(1_001) });
  expect(checked.ok ? [] : Object.keys(checked.errors)).toEqual(['metadata.*']);
});
