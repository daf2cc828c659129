import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transformFor } from '#src/domain/access/decide-access.js';
import { decideMove } from '#src/domain/access/decide-move.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { openness } from '#src/domain/access/transform.js';
import { accessRules, callerHolding, callerWith, containerPaths } from './arbitraries.js';

const update = ['token:update'] as const;
const updateAndRead = ['token:update', 'token:read'] as const;

describe('a move under plain permissions', () => {
  it('requires token:update, and can never widen the caller’s rights', () => {
    expect(decideMove(callerHolding('token:update'), ['/a/'], ['/b/'])).toBe('mask');
    expect(decideMove(callerHolding('token:read', 'token:use'), ['/a/'], ['/b/'])).toBeNull();
  });
});

describe('an update that moves nothing', () => {
  const caller = callerWith(
    { priority: 1, container: '/a/', transform: 'reveal', permissions: update },
    { priority: 2, container: '/b/', transform: 'redact', permissions: update },
  );

  it('is decided by the first rule that matches the token', () => {
    expect(decideMove(caller, ['/a/', '/b/'], ['/b/', '/a/'])).toBe('reveal');
    expect(decideMove(caller, ['/b/'], ['/b/'])).toBe('redact');
    expect(decideMove(caller, ['/c/'], ['/c/'])).toBeNull();
  });
});

describe('a move under rules', () => {
  it.each([
    ['within one rule', [{ permissions: update }], ['/a/'], ['/b/'], 'mask'],
    ['without token:update at the source', [{ container: '/b/', permissions: update }], ['/a/'], ['/b/'], null],
    ['without token:update at the destination', [{ container: '/a/', permissions: update }], ['/a/'], ['/b/'], null],
    [
      'that only adds a container that the caller may update',
      [{ container: '/a/', permissions: update }],
      ['/a/'],
      ['/a/', '/a/x/'],
      'mask',
    ],
    [
      'that only adds a container that the caller may not update',
      [{ container: '/a/', permissions: update }],
      ['/a/'],
      ['/a/', '/b/'],
      null,
    ],
    [
      'that only removes a container that the caller may update',
      [{ container: '/a/', permissions: update }],
      ['/a/', '/b/'],
      ['/b/'],
      'mask',
    ],
    [
      'that only removes a container that the caller may not update',
      [{ container: '/b/', permissions: update }],
      ['/a/', '/b/'],
      ['/b/'],
      null,
    ],
    [
      'where the destination is stricter',
      [
        { container: '/a/', transform: 'reveal', permissions: update },
        { container: '/b/', transform: 'redact', permissions: update },
      ],
      ['/a/'],
      ['/b/'],
      'redact',
    ],
    [
      'that would show more to token:read',
      [
        { container: '/a/', transform: 'mask', permissions: updateAndRead },
        { container: '/b/', transform: 'mask', permissions: update },
        { container: '/b/', transform: 'reveal', permissions: ['token:read'] },
      ],
      ['/a/'],
      ['/b/'],
      null,
    ],
    [
      'that would add a permission',
      [
        { container: '/', permissions: update },
        { container: '/b/', transform: 'redact', permissions: ['token:delete'] },
      ],
      ['/a/'],
      ['/b/'],
      null,
    ],
    [
      'that would show more by leaving the container with the strict rule',
      [
        { priority: 1, container: '/a/', transform: 'redact', permissions: updateAndRead },
        { priority: 2, container: '/b/', transform: 'reveal', permissions: updateAndRead },
      ],
      ['/a/', '/b/'],
      ['/b/'],
      null,
    ],
    [
      'that takes permissions from the caller itself',
      [
        { container: '/', permissions: update },
        { container: '/a/', permissions: ['token:read', 'token:use'] },
      ],
      ['/a/'],
      ['/b/'],
      'mask',
    ],
    [
      'to where the caller may also create, which has no effect on an existing token',
      [
        { container: '/', permissions: update },
        { container: '/b/', permissions: ['token:create'] },
      ],
      ['/a/'],
      ['/b/'],
      'mask',
    ],
  ] as const)('%s', (_name, rules, before, after, transform) => {
    expect(decideMove(callerWith(...rules), before, after)).toBe(transform);
  });

  it('never gives the caller more rights on the token, and never shows more than the rules for a changed container do', () => {
    fc.assert(
      fc.property(accessRules, containerPaths, containerPaths, (rules, before, after) => {
        const caller = callerWith(...rules);
        const shown = decideMove(caller, before, after);
        if (shown === null) return;
        for (const permission of tokenPermissions.filter((other) => other !== 'token:create')) {
          const had = openness(transformFor(caller, permission, before));
          expect(openness(transformFor(caller, permission, after)), permission).toBeLessThanOrEqual(had);
        }
        for (const path of [...before, ...after]) {
          if (before.includes(path) && after.includes(path)) continue;
          const there = openness(transformFor(caller, 'token:update', [path]));
          expect(openness(shown), path).toBeLessThanOrEqual(there);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('does not widen the caller’s rights more in several steps than in one', () => {
    fc.assert(
      fc.property(accessRules, containerPaths, containerPaths, containerPaths, (rules, first, second, third) => {
        const caller = callerWith(...rules);
        if (decideMove(caller, first, second) === null || decideMove(caller, second, third) === null) return;
        for (const permission of ['token:read', 'token:use', 'token:search'] as const) {
          const had = openness(transformFor(caller, permission, first));
          expect(openness(transformFor(caller, permission, third)), permission).toBeLessThanOrEqual(had);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
