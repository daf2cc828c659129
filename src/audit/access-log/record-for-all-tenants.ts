import type { Visitor } from '../../domain/access/visitor.js';
import type { NewAccessEntry } from '../../events/access-log/access-entry.js';
import { entityRef } from '../../events/access-log/entity-ref.js';
import { pendingTrace } from '../../events/sealing/trace-ciphertext.js';
import type { TenantKeys } from '../../keys/key-ring.js';
import type { Vault } from '../../vault/vault.js';
import { type AccessActor, type AccessFact, entriesOfActor } from './new-entry.js';
import type { AccessOperation } from './operation.js';
import type { ConsoleAct } from './record-console-act.js';

type Recorded = Extract<AccessOperation, 'start' | 'stop' | 'rotation' | 'read'>;

const messages: { readonly [O in Recorded]: string } = {
  start: 'service started',
  stop: 'service stopped',
  rotation: 'all keys rotated',
  read: 'tenants listed on the command line',
};

/**
 * Records an operation that concerns every live tenant: a start or stop of the service, a rotation of all keys, or a
 * listing of all tenants.
 */
export async function recordForAllTenants(vault: Vault, operation: Recorded): Promise<void> {
  const actorType = operation === 'read' || operation === 'rotation' ? 'operator' : 'system';
  const entity = operation === 'read' ? 'tenant' : 'service';
  const message = messages[operation];
  await recordInEachTenant(vault, { actorType, sourceAddress: null }, (tenantId, { names }) => {
    const entityId = entity === 'tenant' ? tenantId : null;
    const fact: AccessFact = { entity, ref: entityRef(names, tenantId), entityId, operation, message };
    return { fact, trace: null };
  });
}

/** Records an operator's action on the service in the access log of every live tenant. */
export async function recordOperatorAct(
  vault: Vault,
  { traceId, visitor, sourceAddress }: { traceId: string; visitor: Visitor; sourceAddress: string },
  { operation, message }: ConsoleAct,
): Promise<void> {
  await recordInEachTenant(vault, { actorType: 'operator', sourceAddress }, (tenantId, tenantKeys) => {
    const fact: AccessFact = { entity: 'service', ref: entityRef(tenantKeys.names, tenantId), operation, message };
    return { fact, trace: pendingTrace(tenantKeys, { traceId, visitor }) };
  });
}

/**
 * Does not wait until the entries are written, because the service must be able to start even if the access log cannot
 * be written.
 */
async function recordInEachTenant(
  { directory, keys, clock, recorder }: Vault,
  { actorType, sourceAddress }: { readonly actorType: 'operator' | 'system'; readonly sourceAddress: string | null },
  actOf: (tenantId: string, tenantKeys: TenantKeys) => Pick<NewAccessEntry, 'trace'> & { readonly fact: AccessFact },
): Promise<void> {
  for (const { id: tenantId, removedAt } of await directory.list('tenant')) {
    const tenantKeys = removedAt === null ? await keys.tenantKeys(tenantId) : null;
    if (tenantKeys === null) continue;
    const { fact, trace } = actOf(tenantId, tenantKeys);
    const actor: AccessActor = { tenantId, actorId: actorType, actorType, keyId: null, sourceAddress };
    recorder.soon(entriesOfActor(actor, trace, clock.now(), [fact]));
  }
}
