import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readsEveryValue, transformFor } from '#src/domain/access/decide-access.js';
import { accessRules, callerWith, containerPaths } from './arbitraries.js';

const revealing = ['token:read', 'token:search', 'token:use'] as const;

test('a caller that reads every value sees plaintext, whatever it may search', () => {
  const property = fc.property(accessRules, containerPaths, (rules, containers) => {
    const caller = callerWith(...rules);
    if (!readsEveryValue(caller, 'token:search') || transformFor(caller, 'token:search', containers) === null) return;
    const shown = revealing.map((permission) => transformFor(caller, permission, containers));
    expect(shown).toContain('reveal');
  });
  fc.assert(property, { numRuns: 2_000 });
});

test('a caller that reads every value in the tenant sees every token in plaintext', () => {
  const property = fc.property(accessRules, containerPaths, (rules, containers) => {
    const caller = callerWith(...rules);
    if (!readsEveryValue(caller, null)) return;
    const shown = revealing.map((permission) => transformFor(caller, permission, containers));
    expect(shown).toContain('reveal');
  });
  fc.assert(property, { numRuns: 2_000 });
});

test.each([
  ['one rule that reveals everything', [{ transform: 'reveal' }], true],
  ['reveal under one container', [{ transform: 'reveal', container: '/a/' }], false],
  ['reveal after a mask', [{ transform: 'mask', container: '/a/', priority: 0 }, { transform: 'reveal' }], false],
  [
    'a mask that never decides',
    [
      { transform: 'reveal', priority: 0 },
      { transform: 'mask', container: '/a/' },
    ],
    true,
  ],
] as const)('%s: %j', (_, rules, expected) => {
  expect(readsEveryValue(callerWith(...rules), null)).toBe(expected);
});

test.each([
  [['token:read', 'token:search', 'token:update'], false],
  [['token:search', 'token:use'], true],
] as const)('the plain permissions %j: %j', (permissions, expected) => {
  const caller = { ...callerWith(), access: { kind: 'permissions', permissions: new Set(permissions) } } as const;
  expect(readsEveryValue(caller, 'token:search')).toBe(expected);
  expect(readsEveryValue(caller, null)).toBe(expected);
});

test('a public application never counts as reading every value', () => {
  const caller = { ...callerWith({ transform: 'reveal' }), applicationType: 'public' } as const;
  expect(readsEveryValue(caller, null)).toBe(false);
  expect(transformFor(caller, 'token:update', ['/a/'])).toBe('mask');
});
