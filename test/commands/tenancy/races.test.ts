import { describe, expect, test } from 'vitest';
import { issueKey } from '#src/commands/tenancy/api-keys.js';
import { createApplication, deleteApplication, updateApplication } from '#src/commands/tenancy/applications.js';
import { deleteTenant } from '#src/commands/tenancy/delete-tenant.js';
import { type ManagementPermission, managementPermissions } from '#src/domain/access/permission.js';
import { createStreamQueue } from '#src/domain/stream-queue.js';
import { listKeys } from '#src/queries/tenancy/list-keys.js';
import type { Vault } from '#src/vault/vault.js';
import { applyToDirectory, type DirectoryView } from '#src/views/directory-view.js';
import { profile } from '../../support/profile.js';
import { startTestService, type TestService } from '../../support/test-service.js';

const operator = { kind: 'operator' } as const;
const readsOnly: ManagementPermission[] = ['application:read', 'application:update'];

/**
 * Opens one store twice, as two processes would. Each process queues only the commands that it runs itself. Between the
 * two processes, only revisions prevent conflicts.
 */
async function withTwoProcesses(
  run: (service: TestService, vaults: readonly [Vault, Vault], make: typeof makeManager) => Promise<void>,
): Promise<void> {
  const service = await startTestService();
  try {
    const other = { ...service.vault, streams: createStreamQueue() };
    await run(service, [service.vault, other], makeManager);
    await expectRowsAreTheFold(service);
  } finally {
    await service.close();
  }
}

async function makeManager({ vault, tenantId }: TestService, permissions: readonly ManagementPermission[]) {
  const access = { kind: 'permissions', permissions } as const;
  const spec = { name: 'manager', type: 'management', access, expiresAt: null } as const;
  const made = await createApplication(vault, { tenantId, actor: operator, traceId: null }, spec);
  if (!made.ok) throw new Error(made.code);
  const [key] = made.value.document.keys;
  const actor = { kind: 'application', applicationId: made.value.id, keyId: key?.id ?? '' } as const;
  return { id: made.value.id, context: { tenantId, actor, traceId: null } };
}

async function firstId({ vault, tenantId }: TestService): Promise<string> {
  const page = { offset: 0, limit: 10 };
  const filter = { ids: null, types: ['management'] };
  const { records } = await vault.directory.applications(tenantId, filter, page, () => undefined);
  return records.at(-1)?.id ?? '';
}

const codeOf = (result: { readonly ok: boolean; readonly code?: string }) => result.code ?? 'done';

describe('if two processes act at once', () => {
  test('one of the last two administrators remains, however they are removed', () =>
    withTwoProcesses(async (service, [a, b], make) => {
      const { tenantId } = service;
      const context = { tenantId, actor: operator, traceId: null };
      for (let round = 0; round < 8; round += 1) {
        const first = await firstId(service);
        const second = await make(service, managementPermissions);
        const results = await Promise.all([
          deleteApplication(a, context, first),
          round % 2 === 0
            ? deleteApplication(b, context, second.id)
            : updateApplication(b, context, second.id, { name: 'x', permissions: readsOnly }),
        ]);
        expect(results.map(codeOf).sort()).toEqual(['done', 'last_administrator']);
        // Deletes the application whose permissions were reduced, so that the next round starts with one application
        // again.
        if (codeOf(results[1]) === 'last_administrator') continue;
        if (round % 2 === 1) await deleteApplication(a, context, second.id);
      }
    }));

  test('another administrator is found, even if an application is deleted while the others are read', () =>
    withTwoProcesses(async (service, [vault, b], make) => {
      const context = { tenantId: service.tenantId, actor: operator, traceId: null };
      // The only other administrator is the oldest application, which is not among the first that are read.
      let deleted = await make(service, readsOnly);
      for (let count = 0; count < 20; count += 1) deleted = await make(service, readsOnly);
      const { id } = await make(service, managementPermissions);
      let pauses = 0;
      const applications: typeof vault.directory.applications = (tenantId, filter, page, pause) =>
        vault.directory.applications(tenantId, filter, page, async () => {
          await pause();
          pauses += 1;
          // The index entries have been read in three parts. The rows are read next.
          if (pauses === 4) expect(codeOf(await deleteApplication(b, context, deleted.id))).toBe('done');
        });
      const a = { ...vault, directory: { ...vault.directory, applications } };
      expect(codeOf(await updateApplication(a, context, id, { name: 'x', permissions: readsOnly }))).toBe('done');
      if (profile === 'embedded') expect(pauses).toBeGreaterThan(4);
    }));

  test('no application gets a fourth key', () =>
    withTwoProcesses(async (service, [a, b], make) => {
      const { id, context } = await make(service, managementPermissions);
      const issuing = Array.from({ length: 6 }, (_, i) => issueKey(i % 2 === 0 ? a : b, context, id, null));
      const codes = (await Promise.all(issuing)).map(codeOf);
      expect(codes.filter((code) => code === 'done')).toHaveLength(2);
      expect(codes.filter((code) => code === 'too_many_keys')).toHaveLength(4);
      const keys = await listKeys(a, context.tenantId, id);
      expect(keys.ok && keys.value).toHaveLength(3);
    }));

  test('a revoked permission grants nothing once the response was sent', () =>
    withTwoProcesses(async (service, [a, b], make) => {
      for (let round = 0; round < 6; round += 1) {
        const holder = await make(service, managementPermissions);
        const byOperator = { ...holder.context, actor: operator };
        const access = { kind: 'permissions', permissions: ['log:read'] } as const;
        const spec = { name: 'strong', type: 'management', access, expiresAt: null } as const;
        const weakening = updateApplication(b, byOperator, holder.id, {
          name: 'x',
          permissions: ['application:create'],
        });
        const granted = await createApplication(a, holder.context, spec);
        await weakening;
        expect(['done', 'exceeds_own_permissions']).toContain(codeOf(granted));
        expect(codeOf(await createApplication(a, holder.context, spec))).toBe('exceeds_own_permissions');
      }
    }));

  test('nothing is created in a tenant that is being deleted', () =>
    withTwoProcesses(async (service, [a, b], make) => {
      const { context } = await make(service, managementPermissions);
      const access = { kind: 'permissions', permissions: ['token:read'] } as const;
      const spec = { name: 'late', type: 'private', access, expiresAt: null } as const;
      const making = Array.from({ length: 4 }, () => createApplication(a, context, spec));
      const [deleted, ...made] = await Promise.all([deleteTenant(b, context, 'test'), ...making]);
      expect(codeOf(deleted)).toBe('done');
      for (const result of made) expect(['done', 'unauthenticated']).toContain(codeOf(result));
      const events = await service.vault.log.readStream(`tenant-${service.tenantId}`);
      expect(events.at(-1)?.type).toBe('tenant.deleted');
    }));
});

/** Checks that the rows match the events and that no revision is missing. */
async function expectRowsAreTheFold({ vault, tenantId }: TestService): Promise<void> {
  const events = await vault.log.readStream(`tenant-${tenantId}`);
  const nothing: DirectoryView = { tenant: null, applications: new Map() };
  const { tenant, applications } = events.reduce(applyToDirectory, nothing);
  expect(await vault.directory.get('tenant', tenantId)).toEqual(tenant);
  for (const record of applications.values()) {
    const stored = await vault.directory.get('application', record.id);
    const byHash = (keys: typeof record.keys) => [...keys].sort((a, b) => (a.hash < b.hash ? -1 : 1));
    expect({ ...stored, keys: byHash(stored?.keys ?? []) }).toEqual({ ...record, keys: byHash(record.keys) });
  }
}
