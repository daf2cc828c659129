import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Caller } from '#src/domain/access/caller.js';
import {
  grantsAnywhere,
  maySeeClear,
  transformFor,
  transformForCreate,
  transformForEach,
} from '#src/domain/access/decide-access.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { openness } from '#src/domain/access/transform.js';
import { accessRules, callerHolding, callerWith, containerPath, containerPaths } from './arbitraries.js';

describe('plain permissions', () => {
  const all = callerHolding(...tokenPermissions);

  it.each([
    ['token:create', 'mask'],
    ['token:read', 'mask'],
    ['token:update', 'mask'],
    ['token:delete', 'mask'],
    ['token:search', 'mask'],
    ['token:use', 'reveal'],
  ] as const)('%s has the transform %s in any container', (permission, transform) => {
    expect(transformFor(all, permission, ['/x/'])).toBe(transform);
    expect(transformFor(callerHolding(permission), permission, ['/'])).toBe(transform);
  });

  it.each(tokenPermissions)('reject an access that requires %s if they do not contain it', (permission) => {
    const others = callerHolding(...tokenPermissions.filter((other) => other !== permission));
    expect(transformFor(others, permission, ['/x/'])).toBeNull();
    expect(grantsAnywhere(others, permission)).toBe(false);
    expect(grantsAnywhere(callerHolding(permission), permission)).toBe(true);
  });

  it('allow a create in any container, and show the new token masked', () => {
    expect(transformForCreate(all, ['/a/', '/b/'])).toBe('mask');
    expect(transformForCreate(callerHolding('token:read'), ['/a/'])).toBeNull();
  });
});

describe('the containers that a rule covers', () => {
  it.each([
    ['/', ['/'], true],
    ['/', ['/pci/high/'], true],
    ['/pci/', ['/pci/'], true],
    ['/pci/', ['/pci/high/'], true],
    ['/pci/', ['/general/', '/pci/high/'], true],
    ['/pci/high/', ['/pci/'], false],
    ['/pci/', ['/'], false],
    ['/pci/', ['/pci-old/'], false],
    ['/pci/', ['/pc/', '/x/pci/'], false],
  ])('a rule for %s covers a token in %j: %s', (container, containers, covered) => {
    expect(transformFor(callerWith({ container }), 'token:read', containers)).toBe(covered ? 'mask' : null);
  });
});

describe('the rule that decides', () => {
  it('is the rule with the lowest priority, wherever it is in the list', () => {
    const caller = callerWith({ priority: 2, transform: 'reveal' }, { priority: 1, transform: 'redact' });
    expect(transformFor(caller, 'token:read', ['/a/'])).toBe('redact');
  });

  it('is the earlier one of two rules with the same priority', () => {
    const caller = callerWith({ priority: 1, transform: 'reveal' }, { priority: 1, transform: 'redact' });
    expect(transformFor(caller, 'token:read', ['/a/'])).toBe('reveal');
  });

  it('is a rule that grants the permission, not merely one that covers the container', () => {
    const caller = callerWith(
      { priority: 1, transform: 'redact', permissions: ['token:read'] },
      { priority: 2, transform: 'reveal', permissions: ['token:use'] },
    );
    expect(transformFor(caller, 'token:use', ['/a/'])).toBe('reveal');
    expect(transformFor(caller, 'token:read', ['/a/'])).toBe('redact');
    expect(transformFor(caller, 'token:update', ['/a/'])).toBeNull();
    expect(grantsAnywhere(caller, 'token:update')).toBe(false);
    expect(grantsAnywhere(caller, 'token:use')).toBe(true);
  });

  it('for a token in several containers is the first rule that covers any of them', () => {
    const caller = callerWith(
      { priority: 1, container: '/a/', transform: 'reveal' },
      { priority: 2, container: '/b/', transform: 'redact' },
    );
    expect(transformFor(caller, 'token:read', ['/b/', '/a/'])).toBe('reveal');
    expect(transformFor(caller, 'token:read', ['/b/'])).toBe('redact');
  });

  it('does not depend on the order of the containers', () => {
    fc.assert(
      fc.property(
        accessRules,
        containerPaths,
        fc.constantFrom(...tokenPermissions),
        (rules, containers, permission) => {
          const caller = callerWith(...rules);
          expect(transformFor(caller, permission, [...containers].reverse())).toBe(
            transformFor(caller, permission, containers),
          );
        },
      ),
    );
  });

  it('is the first rule in the sorted list, as the contract states', () => {
    fc.assert(
      fc.property(
        accessRules,
        containerPaths,
        fc.constantFrom(...tokenPermissions),
        (rules, containers, permission) => {
          const first = [...rules]
            .sort((a, b) => a.priority - b.priority)
            .find((r) => r.permissions.includes(permission) && containers.some((path) => path.startsWith(r.container)));
          expect(transformFor(callerWith(...rules), permission, containers)).toBe(first?.transform ?? null);
        },
      ),
    );
  });
});

describe('creation', () => {
  const caller = callerWith(
    { container: '/a/', transform: 'reveal', permissions: ['token:create'] },
    { container: '/b/', transform: 'redact', permissions: ['token:create'] },
    { container: '/c/', transform: 'reveal', permissions: ['token:read'] },
  );

  it.each([
    [['/a/'], 'reveal'],
    [['/a/x/', '/b/'], 'redact'],
    [['/a/', '/c/'], null],
    [['/'], null],
    [[], null],
  ] as const)('for a token in %j has the transform %s', (containers, transform) => {
    expect(transformForCreate(caller, containers)).toBe(transform);
  });

  it('shows no more and is allowed no more often when a container is added to the token', () => {
    fc.assert(
      fc.property(accessRules, containerPaths, containerPath, (rules, containers, another) => {
        const caller = callerWith(...rules);
        expect(openness(transformForCreate(caller, [...containers, another]))).toBeLessThanOrEqual(
          openness(transformForCreate(caller, containers)),
        );
      }),
    );
  });

  it('needs a rule for every container', () => {
    fc.assert(
      fc.property(accessRules, containerPaths, (rules, containers) => {
        const caller = callerWith(...rules);
        const each = containers.map((path) => openness(transformFor(caller, 'token:create', [path])));
        expect(openness(transformForEach(caller, 'token:create', containers))).toBe(Math.min(...each));
      }),
    );
  });
});

describe('an application may change expressions over the data if it has', () => {
  const isPublic = (caller: Caller): Caller => ({ ...caller, applicationType: 'public' });

  it.each([
    ['plain token:use', callerHolding('token:update', 'token:use'), true],
    ['plain permissions without token:use', callerHolding('token:update', 'token:read'), false],
    ['a rule that reveals for token:read', callerWith({ transform: 'reveal', permissions: ['token:read'] }), true],
    ['a rule that reveals for token:use', callerWith({ transform: 'reveal', permissions: ['token:use'] }), true],
    ['a rule that reveals for token:search', callerWith({ transform: 'reveal', permissions: ['token:search'] }), false],
    ['a rule that reveals for token:update', callerWith({ transform: 'reveal', permissions: ['token:update'] }), false],
    ['a rule that masks for token:use', callerWith({ transform: 'mask', permissions: ['token:use'] }), false],
    [
      'a revealing rule after a masking one',
      callerWith({ priority: 1, transform: 'mask' }, { priority: 2, transform: 'reveal' }),
      false,
    ],
    ['a rule that reveals in another container', callerWith({ container: '/b/', transform: 'reveal' }), false],
    ['a public application’s rule that reveals', isPublic(callerWith({ transform: 'reveal' })), false],
    ['a public application’s plain token:use', isPublic(callerHolding('token:use')), false],
  ] as const)('%s: %#', (_name, caller, may) => {
    expect(maySeeClear(caller, ['/a/'])).toBe(may);
  });
});
