import { entityRef } from '../../events/access-log/entity-ref.js';
import type { Vault } from '../../vault/vault.js';
import type { AccessOperation } from './operation.js';

type Recorded = Extract<AccessOperation, 'start' | 'stop' | 'rotation' | 'read'>;

const messages: { readonly [O in Recorded]: string } = {
  start: 'service started',
  stop: 'service stopped',
  rotation: 'all keys rotated',
  read: 'tenants listed on the command line',
};

/**
 * Records an operation that concerns every live tenant: a start or stop of the service, a rotation of all keys, or a
 * listing of all tenants. Does not wait until the entries are written, because the service must be able to start even
 * if the access log cannot be written.
 */
export async function recordForAllTenants(
  { directory, keys, clock, recorder }: Vault,
  operation: Recorded,
): Promise<void> {
  const actor = operation === 'read' || operation === 'rotation' ? 'operator' : 'system';
  const entityType = operation === 'read' ? 'tenant' : 'service';
  for (const { id: tenantId, removedAt } of await directory.list('tenant')) {
    const names = removedAt === null ? (await keys.tenantKeys(tenantId))?.names : undefined;
    if (names === undefined) continue;
    recorder.soon([
      {
        tenantId,
        time: clock.now(),
        actorId: actor,
        actorType: actor,
        keyId: null,
        sourceAddress: null,
        entityType,
        entityRef: entityRef(names, tenantId),
        entityId: entityType === 'tenant' ? tenantId : null,
        operation,
        outcome: 'success',
        message: messages[operation],
        trace: null,
        tracePlace: null,
      },
    ]);
  }
}
