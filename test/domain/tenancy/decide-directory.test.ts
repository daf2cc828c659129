import { describe, expect, test } from 'vitest';
import { decideDirectory } from '#src/domain/tenancy/decide-directory.js';
import { evolveDirectory } from '#src/domain/tenancy/tenant-directory.js';
import type { WebhookSpec } from '#src/domain/tenancy/webhook.js';
import {
  as,
  at,
  create,
  directoryAfter,
  issue,
  manager,
  operator,
  outcome,
  reader,
  tenant,
  update,
} from './support.js';

const directory = directoryAfter(tenant, create('boss', manager()), create('reader', reader));

describe('a command that changes nothing produces no event', () => {
  test('an update to the current values', () => {
    expect(outcome(as('boss'), update('reader', ['token:read'], { name: 'reader' }), directory)).toEqual([]);
    expect(outcome(as('boss'), { kind: 'update_tenant', name: 'shop', settings: {} }, directory)).toEqual([]);
    const settings = { deduplicate_tokens: 'false' } as const;
    expect(outcome(as('boss'), { kind: 'update_tenant', name: 'shop', settings }, directory)).toEqual([]);
  });
});

describe('an update names the fields that it changed, and records who changed them and when', () => {
  test.for([
    ['name', update('reader', ['token:read'])],
    ['permissions', update('reader', ['token:search'], { name: 'reader' })],
    ['expires_at', update('reader', ['token:read'], { name: 'reader', expiresAt: at + 1 })],
  ] as const)('%s', ([field, command]) => {
    const decided = decideDirectory(command, { actor: as('boss'), at: at + 5 }, directory);
    expect(decided).toMatchObject({
      ok: true,
      facts: [{ changed: [field], document: { created_by: 'operator', modified_by: 'boss', modified_at: at + 5 } }],
    });
  });

  test('permissions that are replaced by rules', () => {
    const rule = { container: '/pci/', transform: 'mask', permissions: ['token:read'] };
    const command = update('reader', [], { name: 'reader', access: { rules: [rule] } });
    const decided = decideDirectory(command, { actor: operator, at }, directory);
    expect(decided).toMatchObject({ facts: [{ changed: ['permissions', 'rules'] }] });
  });

  test('an update may repeat the type, but must not change it', () => {
    expect(outcome(operator, update('reader', ['token:use'], { type: 'private' }), directory)).toHaveLength(1);
    expect(outcome(operator, update('reader', ['token:use'], { type: null }), directory)).toHaveLength(1);
    for (const type of ['public', 'management', '', 1, {}]) {
      expect(outcome(operator, update('reader', ['token:use'], { type }), directory)).toBe('validation_failed');
    }
  });
});

describe('keys', () => {
  test('a fourth key is rejected, but a new key may replace a revoked one', () => {
    const full = directoryAfter(
      tenant,
      create('boss', manager()),
      create('reader', reader),
      issue('reader', 'b'),
      issue('reader', 'c'),
    );
    expect(outcome(as('boss'), issue('reader', 'd'), full)).toBe('too_many_keys');
    const freed = directoryAfter(
      tenant,
      create('boss', manager()),
      create('reader', reader),
      issue('reader', 'b'),
      issue('reader', 'c'),
      { kind: 'revoke_key', id: 'reader', keyId: 'b' },
    );
    expect(outcome(as('boss'), issue('reader', 'd'), freed)).toEqual(['application.key.issued']);
  });

  test('an application that does not exist cannot be revoked, deleted, changed or given a key', () => {
    const gone = directoryAfter(tenant, create('boss', manager()), create('reader', reader), {
      kind: 'delete_application',
      id: 'reader',
    });
    for (const command of [issue('reader', 'x'), update('reader', ['token:use'])]) {
      expect(outcome(as('boss'), command, gone)).toBe('application_not_found');
    }
    expect(outcome(as('boss'), { kind: 'delete_application', id: 'reader' }, gone)).toBe('application_not_found');
    expect(outcome(as('boss'), { kind: 'revoke_key', id: 'reader', keyId: 'reader-2' }, directory)).toBe(
      'application_key_not_found',
    );
  });
});

describe('the deletion of a tenant', () => {
  test('requires the exact name of the tenant', () => {
    for (const name of ['', 'Shop', ' shop']) {
      expect(outcome(as('boss'), { kind: 'delete_tenant', name }, directory)).toBe('validation_failed');
    }
  });

  test('leaves nothing that a caller could change', () => {
    const ended = directoryAfter(tenant, create('boss', manager()), { kind: 'delete_tenant', name: 'shop' });
    expect(ended).toMatchObject({ tenant: null, applications: new Map() });
    expect(outcome(operator, create('new', reader), ended)).toBe('tenant_not_found');
    expect(outcome(operator, { kind: 'update_tenant', name: 'x', settings: {} }, ended)).toBe('tenant_not_found');
  });
});

test('a webhook’s secret is rotated only if the caller has seen the last change, unless the caller does not say', () => {
  const spec = { url: 'https://shop.example/hook', description: '', enabled: true, event_types: ['token.created'] };
  const webhook = { ...spec, token_types: null, containers: null } as WebhookSpec;
  const created = {
    kind: 'create_webhook',
    webhookId: 'hook',
    spec: webhook,
    secret: { secret: 'one' },
    idKey: '',
  } as const;
  const before = directoryAfter(tenant, create('boss', manager()), created);
  const rotate = (seenChange: number | undefined) =>
    ({
      kind: 'rotate_webhook_secret',
      webhookId: 'hook',
      secret: { secret: 'two' },
      overlapMs: 0,
      seenChange,
    }) as const;
  const rotated = decideDirectory(rotate(at), { actor: as('boss'), at: at + 1 }, before);
  if (!rotated.ok) throw new Error(rotated.code);
  const after = rotated.facts.reduce(evolveDirectory, before);
  expect(outcome(as('boss'), rotate(at), after)).toBe('precondition_failed');
  expect(outcome(as('boss'), rotate(Number.NaN), after)).toBe('precondition_failed');
  expect(outcome(as('boss'), rotate(at + 1), after)).toEqual(['webhook.updated']);
  expect(outcome(as('boss'), rotate(undefined), after)).toEqual(['webhook.updated']);
});
