import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json } from '#src/domain/json.js';
import { mergePatch } from '#src/domain/token/fields/merge-patch.js';

/** Implements the pseudocode of RFC 7386, section 2, line by line. */
function asTheRfcSays(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const object: Record<string, Json> = isJsonObject(target) ? { ...target } : {};
  for (const name of Object.keys(patch)) {
    const value = patch[name] ?? null;
    if (value === null) {
      if (Object.hasOwn(object, name)) delete object[name];
    } else {
      object[name] = asTheRfcSays(object[name], value);
    }
  }
  return object;
}

const json = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 1.5, 'a', ''),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'constructor', 'é'), tie('json'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).json;

describe('merge patch (RFC 7386)', () => {
  it.each<[Json, Json, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('gives the result in appendix A: %j patched with %j is %j', (target, patch, result) => {
    expect(mergePatch(target, patch)).toEqual(result);
  });

  it('creates a value that does not exist yet', () => {
    expect(mergePatch(undefined, { a: { b: null, c: 1 } })).toEqual({ a: { c: 1 } });
  });

  it('gives the same result as the pseudocode in the RFC', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        expect(mergePatch(target, patch)).toEqual(asTheRfcSays(target, patch));
      }),
    );
  });

  it('gives the same result when it is applied again, so that a client may retry', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const once = mergePatch(target, patch);
        expect(mergePatch(once, patch)).toEqual(once);
      }),
    );
  });

  it('does not change its arguments', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const before = JSON.stringify([target, patch]);
        mergePatch(target, patch);
        expect(JSON.stringify([target, patch])).toBe(before);
      }),
    );
  });

  it('never reaches a prototype', () => {
    const merged = mergePatch(
      {},
      JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
    );
    expect('polluted' in {}).toBe(false);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(isJsonObject(merged) && Object.keys(merged)).toEqual(['__proto__', 'constructor']);
  });
});
