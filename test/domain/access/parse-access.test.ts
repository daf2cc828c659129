import { describe, expect, it } from 'vitest';
import type { ApplicationType } from '#src/domain/access/application-type.js';
import { type AccessFields, parseAccess } from '#src/domain/access/parse-access.js';
import { managementPermissions, tokenPermissions } from '#src/domain/access/permission.js';
import type { Json } from '#src/domain/json.js';

const rule = { description: 'd', priority: 3, container: '/PCI/', transform: 'mask', permissions: ['token:create'] };

function outcome(fields: AccessFields, type: ApplicationType = 'private'): unknown {
  const parsed = parseAccess(fields, type);
  return parsed.ok ? parsed.value : Object.keys(parsed.errors);
}

describe('an application has either permissions or rules, and they must not be empty', () => {
  it.each<[AccessFields, readonly string[]]>([
    [{}, ['permissions']],
    [{ permissions: null, rules: null }, ['permissions']],
    [{ permissions: [] }, ['permissions']],
    [{ rules: [] }, ['rules']],
    [{ permissions: ['token:read'], rules: [rule] }, ['rules']],
    [{ permissions: 'token:read' }, ['permissions']],
    [{ permissions: { 0: 'token:read' } }, ['permissions']],
    [{ rules: rule }, ['rules']],
    [{ permissions: Array.from({ length: 51 }, () => 'token:read') }, ['permissions']],
    [{ rules: Array.from({ length: 51 }, () => rule) }, ['rules']],
  ])('%j is rejected with an error for %j', (fields, paths) => {
    expect(outcome(fields)).toEqual(paths);
  });
});

describe('plain permissions', () => {
  it('are stored as a set', () => {
    expect(outcome({ permissions: ['token:read', 'token:use', 'token:read'], rules: null })).toEqual({
      kind: 'permissions',
      permissions: new Set(['token:read', 'token:use']),
    });
  });

  it.each<[ApplicationType, readonly string[]]>([
    ['private', tokenPermissions],
    ['public', ['token:create', 'token:update']],
    ['management', managementPermissions],
  ])('a %s application may have only permissions that its type allows', (type, own) => {
    for (const permission of [...tokenPermissions, ...managementPermissions]) {
      const expected = own.includes(permission)
        ? { kind: 'permissions', permissions: new Set([permission]) }
        : ['permissions[0]'];
      expect(outcome({ permissions: [permission] }, type), permission).toEqual(expected);
    }
  });

  it('are rejected with the path of the invalid permission', () => {
    expect(outcome({ permissions: ['token:read', 'token:fly', 1, 'TOKEN:READ'] })).toEqual([
      'permissions[1]',
      'permissions[2]',
      'permissions[3]',
    ]);
  });
});

describe('access rules', () => {
  it('are stored in the given order, with containers in lower case', () => {
    const later = { ...rule, priority: 1, container: '/' };
    expect(outcome({ rules: [rule, later] })).toEqual({
      kind: 'rules',
      rules: [{ ...rule, container: '/pci/' }, later],
    });
  });

  it('may have an unknown field whose value is null, which some generated clients send', () => {
    const stored = { ...rule, container: '/pci/' };
    expect(outcome({ rules: [{ ...rule, conditions: null }] })).toEqual({ kind: 'rules', rules: [stored] });
  });

  it('may have no description and no priority', () => {
    const { description, priority, ...rest } = rule;
    const stored = { ...rest, container: '/pci/', description: '', priority: 1 };
    expect(outcome({ rules: [rest, { ...rest, description: null, priority: null }] })).toEqual({
      kind: 'rules',
      rules: [stored, stored],
    });
  });

  it.each<[Json, readonly string[]]>([
    ['x', ['rules[0]']],
    [null, ['rules[0]']],
    [{}, ['rules[0].container', 'rules[0].transform', 'rules[0].permissions']],
    [{ ...rule, container: 'pci' }, ['rules[0].container']],
    [{ ...rule, container: ['/pci/'] }, ['rules[0].container']],
    [{ ...rule, transform: 'Reveal' }, ['rules[0].transform']],
    [{ ...rule, transform: null }, ['rules[0].transform']],
    [{ ...rule, priority: 1.5 }, ['rules[0].priority']],
    [{ ...rule, priority: '1' }, ['rules[0].priority']],
    [{ ...rule, description: 1 }, ['rules[0].description']],
    [{ ...rule, description: 'x'.repeat(201) }, ['rules[0].description']],
    [{ ...rule, permissions: [] }, ['rules[0].permissions']],
    [{ ...rule, permissions: ['token:read', 'log:read'] }, ['rules[0].permissions[1]']],
    [{ ...rule, conditions: [{ attribute: 'x' }] }, ['rules[0]']],
    [{ ...rule, conditions: [] }, ['rules[0]']],
    [{ ...rule, deny: false }, ['rules[0]']],
  ])('%j is rejected with an error for %j', (wrong, paths) => {
    expect(outcome({ rules: [wrong] })).toEqual(paths);
  });

  it('may grant a public application only permissions that its type allows', () => {
    expect(outcome({ rules: [{ ...rule, permissions: ['token:create', 'token:read'] }] }, 'public')).toEqual([
      'rules[0].permissions[1]',
    ]);
  });

  it('are rejected for management applications', () => {
    expect(outcome({ rules: [rule] }, 'management')).toEqual(['rules']);
  });
});
