import { entityRef } from '../../events/access-log/entity-ref.js';
import type { Vault } from '../vault.js';
import type { AccessOperation } from './operation.js';

const messages: { readonly [O in 'start' | 'stop' | 'read']: string } = {
  start: 'service started',
  stop: 'service stopped',
  read: 'tenants listed at the command line',
};

/**
 * Records what concerns every living tenant: that the service starts or stops, and that the operator had their names
 * listed. Never throws: a log that cannot be written keeps nobody from starting.
 */
export async function recordForAllTenants(
  { directory, keys, clock, recorder }: Vault,
  operation: Extract<AccessOperation, 'start' | 'stop' | 'read'>,
): Promise<void> {
  const actor = operation === 'read' ? 'operator' : 'system';
  const entityType = operation === 'read' ? 'tenant' : 'service';
  for (const { id: tenantId, removedAt } of await directory.list('tenant')) {
    const names = removedAt === null ? (await keys.tenantKeys(tenantId))?.names : undefined;
    if (names === undefined) continue;
    recorder.soon([
      {
        ...{ tenantId, time: clock.now(), actorId: actor, actorType: actor, keyId: null, sourceAddress: null },
        ...{ entityType, entityRef: entityRef(names, tenantId), entityId: entityType === 'tenant' ? tenantId : null },
        ...{ operation, outcome: 'success', message: messages[operation], trace: null, tracePlace: null },
      },
    ]);
  }
}
