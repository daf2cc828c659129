import type { Visitor } from '../../domain/access/visitor.js';
import type { NewAccessEntry } from '../../events/access-log/access-entry.js';
import { entityRef } from '../../events/access-log/entity-ref.js';
import { pendingTrace } from '../../events/sealing/trace-ciphertext.js';
import type { TenantKeys } from '../../keys/key-ring.js';
import { type DamagedTenant, forTenants } from '../../vault/for-tenants.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { type AccessActor, type AccessFact, entriesOfActor } from './new-entry.js';
import type { AccessOperation } from './operation.js';
import type { ConsoleAct } from './record-console-act.js';

type RecordForAllDeps = Pick<Vault, 'clock' | 'directory' | 'keys' | 'recorder' | 'reportDamage'>;

type Recorded = Extract<AccessOperation, 'start' | 'stop' | 'rotation'>;

const messages: { readonly [O in Recorded]: string } = {
  start: 'service started',
  stop: 'service stopped',
  rotation: 'all keys rotated',
};

/**
 * Records an operation that concerns every live tenant: a start or stop of the service, or a rotation of all keys. A
 * tenant whose row or keys are damaged is reported and left out.
 */
export async function recordForAllTenants(vault: RecordForAllDeps, operation: Recorded): Promise<void> {
  const actorType = operation === 'rotation' ? 'operator' : 'system';
  const message = messages[operation];
  await recordIn(vault, null, { actorType, sourceAddress: null }, (tenantId, { names }) => {
    return { fact: { entity: 'service', ref: entityRef(names, tenantId), operation, message }, trace: null };
  });
}

const readMessages = {
  tenant: 'tenants listed on the command line',
  application: 'applications listed on the command line',
  log: 'access log read on the command line',
} as const;

type ReadEntity = keyof typeof readMessages;

const byOperator = { actorType: 'operator', sourceAddress: null } as const;

/**
 * Records that a command which acts as no application reads data of a tenant. If `tenantId` is null, the command reads
 * the data of all tenants, except those whose row or keys are damaged.
 */
export async function recordOperatorRead(
  vault: RecordForAllDeps,
  entity: ReadEntity,
  tenantId: string | null,
): Promise<void> {
  const [damaged] = await recordIn(vault, tenantId, byOperator, readOf(entity));
  if (tenantId !== null && damaged !== undefined) throw damaged.error;
}

/**
 * Records that an operator reads the access log of a tenant, or of all tenants if `tenantId` is null. Threat: an
 * attacker changes a tenant's row or keys, so that the operator can no longer read the evidence. If such damage
 * prevents an entry, reports it and goes on. Returns a message about these tenants, or null if every entry was recorded.
 */
export async function recordAccessLogRead(vault: RecordForAllDeps, tenantId: string | null): Promise<string | null> {
  const failures = await recordIn(vault, tenantId, byOperator, readOf('log'));
  const [first] = failures;
  if (first === undefined) return null;
  const tenants = failures.length === 1 ? `tenant ${first.id}` : `${failures.length} tenants, such as ${first.id}`;
  return `the access log could not record this read for ${tenants}: ${first.error.message}`;
}

function readOf(entity: ReadEntity): ActOf {
  return (id, { names }) => {
    const named = entity === 'tenant' ? { ref: entityRef(names, id), entityId: id } : { ref: null };
    return { fact: { entity, ...named, operation: 'read', message: readMessages[entity] }, trace: null };
  };
}

/**
 * Records an operator's action on the service in the access log of every live tenant. A tenant whose row or keys are
 * damaged is reported and left out.
 */
export async function recordOperatorAct(
  vault: RecordForAllDeps,
  { traceId, visitor, sourceAddress }: { traceId: string; visitor: Visitor; sourceAddress: string },
  { operation, message }: ConsoleAct,
): Promise<void> {
  await recordIn(vault, null, { actorType: 'operator', sourceAddress }, (tenantId, tenantKeys) => {
    const fact: AccessFact = { entity: 'service', ref: entityRef(tenantKeys.names, tenantId), operation, message };
    return { fact, trace: pendingTrace(tenantKeys, { traceId, visitor }) };
  });
}

/** The number of tenants whose keys are read at the same time. A stop must not take seconds for thousands of tenants. */
const tenantsAtOnce = 16;

type Act = Pick<NewAccessEntry, 'trace'> & { readonly fact: AccessFact };
type ActOf = (tenantId: string, tenantKeys: TenantKeys) => Act;
type Actor = { readonly actorType: 'operator' | 'system'; readonly sourceAddress: string | null };

/**
 * Records an act in the access log of one tenant, or of each live tenant if `tenantId` is null. Returns the tenants
 * whose damage prevented the entry. Does not wait until the entries are written, because the service must be able to
 * start even if the access log cannot be written.
 */
function recordIn(
  vault: RecordForAllDeps,
  tenantId: string | null,
  { actorType, sourceAddress }: Actor,
  actOf: ActOf,
): Promise<readonly DamagedTenant[]> {
  async function record(id: string): Promise<void> {
    const { fact, trace } = actOf(id, await tenantKeysOf(vault, id));
    const actor: AccessActor = { tenantId: id, actorId: actorType, actorType, keyId: null, sourceAddress };
    vault.recorder.soon(entriesOfActor(actor, trace, vault.clock.now(), [fact]));
  }

  return forTenants(vault, tenantId, ({ id }) => record(id), tenantsAtOnce);
}
