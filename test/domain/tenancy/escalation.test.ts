import { describe, expect, test } from 'vitest';
import { type ManagementPermission, managementPermissions } from '#src/domain/access/permission.js';
import { as, at, create, directoryAfter, issue, manager, outcome, reader, tenant, update } from './support.js';

const some: readonly ManagementPermission[] = ['application:create', 'application:update', 'application:delete'];
const strong = 'strong';
const weak = 'weak';
const directory = directoryAfter(
  tenant,
  create(strong, manager()),
  create(weak, manager(some)),
  issue(strong, 'strong-2'),
  create('reader', reader),
);

describe('a management application cannot gain permissions that it does not have', () => {
  test.for([
    ['creating an application with more permissions', create('new', manager([...some, 'log:read']))],
    ['creating an application with all permissions', create('new', manager(managementPermissions))],
    ['adding a permission to itself', update(weak, [...some, 'tenant:delete'])],
    ['adding a permission to another application', update('reader', ['token:read'])],
    ['changing an application with more permissions', update(strong, some)],
    ['issuing a key for an application with more permissions', issue(strong, 'strong-3')],
    ['deleting an application with more permissions', { kind: 'delete_application', id: strong }],
    ['revoking a key of an application with more permissions', { kind: 'revoke_key', id: strong, keyId: 'strong-2' }],
  ] as const)('%s', ([what, command]) => {
    const expected =
      what === 'adding a permission to another application' ? ['application.updated'] : 'exceeds_own_permissions';
    expect(outcome(as(weak), command, directory)).toEqual(expected);
  });

  test('an application may grant, revoke and use the permissions that it has', () => {
    expect(outcome(as(weak), create('new', manager(some)), directory)).toEqual([
      'application.created',
      'application.key.issued',
    ]);
    expect(outcome(as(weak), update(weak, some.slice(0, 2)), directory)).toEqual(['application.updated']);
    expect(outcome(as(weak), issue('reader', 'reader-2'), directory)).toEqual(['application.key.issued']);
    expect(outcome(as(weak), issue(weak, 'weak-2'), directory)).toEqual(['application.key.issued']);
    expect(outcome(as(strong), { kind: 'delete_application', id: weak }, directory)).toEqual(['application.deleted']);
  });
});

test('a person whom an identity provider has signed in has no key, and has the rights of the application', () => {
  const person = as(weak, null);
  const keyless = directoryAfter(tenant, create(strong, manager()), create(weak, manager(some)), {
    kind: 'revoke_key',
    id: weak,
    keyId: 'weak-1',
  });
  expect(outcome(person, create('new', manager(some)), keyless)).toEqual([
    'application.created',
    'application.key.issued',
  ]);
  expect(outcome(person, create('new', manager(managementPermissions)), keyless)).toBe('exceeds_own_permissions');
  expect(outcome(as('unknown', null), create('new', manager(some)), keyless)).toBe('unauthenticated');
  expect(outcome(as(weak), create('new', manager(some)), keyless)).toBe('unauthenticated');
});

describe('a command is decided with the permissions at the revision that its events follow', () => {
  test.for([
    ['the caller’s application is gone', [{ kind: 'delete_application', id: weak }], 'unauthenticated'],
    ['the caller’s key is revoked', [{ kind: 'revoke_key', id: weak, keyId: 'weak-1' }], 'unauthenticated'],
    ['the caller’s tenant is gone', [{ kind: 'delete_tenant', name: 'shop' }], 'unauthenticated'],
    ['the caller’s application has expired', [update(weak, some, { expiresAt: at })], 'unauthenticated'],
    ['the caller’s application lost the permission', [update(weak, ['application:update'])], 'permission_missing'],
  ] as const)('%s', ([, commands, code]) => {
    const now = directoryAfter(tenant, create(strong, manager()), create(weak, manager(some)), ...commands);
    expect(outcome(as(weak), create('new', reader), now)).toBe(code);
  });

  test.for(['reader', weak])('%s does not have the permission', (id) => {
    expect(outcome(as(id), { kind: 'update_tenant', name: 'mine', settings: {} }, directory)).toBe(
      'permission_missing',
    );
    expect(outcome(as(id), { kind: 'delete_tenant', name: 'shop' }, directory)).toBe('permission_missing');
    expect(outcome(as(id), { kind: 'create_tenant', name: 'shop' }, directory)).toBe('permission_missing');
  });
});
