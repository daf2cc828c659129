import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { evaluate } from './support.js';

const names = [
  ...Object.getOwnPropertyNames(Object.prototype),
  ...Object.getOwnPropertyNames(Array.prototype),
  ...Object.getOwnPropertyNames(String.prototype),
  ...Object.getOwnPropertyNames(Number.prototype),
  'size',
  'first',
  'last',
  'prototype',
  'then',
];
const values: readonly Json[] = [{}, { a: 1 }, [1, 2], 'text', 5, true, null];

describe('an expression reaches only own properties of plain JSON', () => {
  it.each([...new Set(names)])('%s', (name) => {
    for (const value of values) {
      expect(evaluate(`{{ data['${name}'] }}`, value)).toBeNull();
      expect(evaluate(`{{ data.x['${name}'] }}`, { x: value })).toBeNull();
      expect(evaluate('{{ data.x[data.key] }}', { x: value, key: name })).toBeNull();
      expect(evaluate(`{{ data.${name} }}`, value)).toBeNull();
      expect(evaluate(`{{ data | json: "$['${name}']" }}`, value)).toBeNull();
    }
  });

  it('own properties are reached whatever their names are', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), (name) => {
        const data = JSON.parse(JSON.stringify([name, 'mine']).replace(/^\[(.*),(.*)\]$/, '{$1:$2}'));
        expect(evaluate(`{{ data['${name}'] }}`, data)).toBe('mine');
      }),
    );
  });
});
