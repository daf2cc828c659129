import type { Visitor } from '../../domain/access/visitor.js';
import type { NewAccessEntry } from '../../events/access-log/access-entry.js';
import { entityRef } from '../../events/access-log/entity-ref.js';
import { pendingTrace } from '../../events/sealing/trace-ciphertext.js';
import type { TenantKeys } from '../../keys/key-ring.js';
import type { Vault } from '../../vault/vault.js';
import { type AccessActor, type AccessFact, entriesOfActor } from './new-entry.js';
import type { AccessOperation } from './operation.js';
import type { ConsoleAct } from './record-console-act.js';

type Recorded = Extract<AccessOperation, 'start' | 'stop' | 'rotation'>;

const messages: { readonly [O in Recorded]: string } = {
  start: 'service started',
  stop: 'service stopped',
  rotation: 'all keys rotated',
};

/** Records an operation that concerns every live tenant: a start or stop of the service, or a rotation of all keys. */
export async function recordForAllTenants(vault: Vault, operation: Recorded): Promise<void> {
  const actorType = operation === 'rotation' ? 'operator' : 'system';
  const message = messages[operation];
  await recordInEachTenant(vault, { actorType, sourceAddress: null }, (tenantId, { names }) => {
    return { fact: { entity: 'service', ref: entityRef(names, tenantId), operation, message }, trace: null };
  });
}

const readMessages = {
  tenant: 'tenants listed on the command line',
  application: 'applications listed on the command line',
  log: 'access log read on the command line',
} as const;

/**
 * Records that a command which acts as no application reads data of a tenant. If `tenantId` is null, the command reads
 * the data of all tenants.
 */
export async function recordOperatorRead(
  vault: Vault,
  entity: keyof typeof readMessages,
  tenantId: string | null,
): Promise<void> {
  await recordInEachTenant(vault, { actorType: 'operator', sourceAddress: null }, (id, { names }) => {
    if (tenantId !== null && id !== tenantId) return null;
    const named = entity === 'tenant' ? { ref: entityRef(names, id), entityId: id } : { ref: null };
    return { fact: { entity, ...named, operation: 'read', message: readMessages[entity] }, trace: null };
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

type Act = Pick<NewAccessEntry, 'trace'> & { readonly fact: AccessFact };

/**
 * Does not wait until the entries are written, because the service must be able to start even if the access log cannot
 * be written.
 */
async function recordInEachTenant(
  { directory, keys, clock, recorder }: Vault,
  { actorType, sourceAddress }: { readonly actorType: 'operator' | 'system'; readonly sourceAddress: string | null },
  actOf: (tenantId: string, tenantKeys: TenantKeys) => Act | null,
): Promise<void> {
  for (const { id: tenantId, removedAt } of await directory.list('tenant')) {
    const tenantKeys = removedAt === null ? await keys.tenantKeys(tenantId) : null;
    if (tenantKeys === null) continue;
    const act = actOf(tenantId, tenantKeys);
    if (act === null) continue;
    const { fact, trace } = act;
    const actor: AccessActor = { tenantId, actorId: actorType, actorType, keyId: null, sourceAddress };
    recorder.soon(entriesOfActor(actor, trace, clock.now(), [fact]));
  }
}
