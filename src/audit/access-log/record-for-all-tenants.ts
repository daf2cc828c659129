import type { Visitor } from '../../domain/access/visitor.js';
import type { NewAccessEntry } from '../../events/access-log/access-entry.js';
import { entityRef } from '../../events/access-log/entity-ref.js';
import { pendingTrace } from '../../events/sealing/trace-ciphertext.js';
import type { TenantKeys } from '../../keys/key-ring.js';
import { StoreProblem } from '../../ports/store-problem.js';
import { ForgedRow } from '../../vault/forged-row.js';
import type { Vault } from '../../vault/vault.js';
import type { DirectoryRecord } from '../../views/directory-view.js';
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

type ReadEntity = keyof typeof readMessages;

const byOperator = { actorType: 'operator', sourceAddress: null } as const;

/**
 * Records that a command which acts as no application reads data of a tenant. If `tenantId` is null, the command reads
 * the data of all tenants.
 */
export async function recordOperatorRead(vault: Vault, entity: ReadEntity, tenantId: string | null): Promise<void> {
  if (tenantId === null) return recordInEachTenant(vault, byOperator, readOf(entity));
  const record = await vault.directory.get('tenant', tenantId);
  if (record !== null) await recordInTenant(vault, record, byOperator, readOf(entity));
}

/**
 * Records that an operator reads the access log of a tenant, or of all tenants if `tenantId` is null. Threat: an
 * attacker changes a tenant's row or keys, so that the operator can no longer read the evidence. If such damage
 * prevents an entry, calls `reportError` and goes on. Returns a message about these tenants, or null if every entry was
 * recorded.
 */
export async function recordAccessLogRead(
  vault: Vault,
  tenantId: string | null,
  reportError: (error: unknown) => void,
): Promise<string | null> {
  const failures: { readonly id: string; readonly message: string }[] = [];
  for (const { record, problem } of await vault.directory.check('tenant')) {
    const { id } = record;
    if (tenantId !== null && id !== tenantId) continue;
    try {
      // `get` updates the row if it is only out of date, and throws if it is forged.
      const current = problem === null ? record : await vault.directory.get('tenant', id);
      if (current !== null) await recordInTenant(vault, current, byOperator, readOf('log'));
    } catch (error) {
      if (!(error instanceof ForgedRow) && !(error instanceof StoreProblem)) throw error;
      reportError(error);
      failures.push({ id, message: error.message });
    }
  }
  const [first] = failures;
  if (first === undefined) return null;
  const tenants = failures.length === 1 ? `tenant ${first.id}` : `${failures.length} tenants, such as ${first.id}`;
  return `the access log could not record this read for ${tenants}: ${first.message}`;
}

function readOf(entity: ReadEntity): ActOf {
  return (id, { names }) => {
    const named = entity === 'tenant' ? { ref: entityRef(names, id), entityId: id } : { ref: null };
    return { fact: { entity, ...named, operation: 'read', message: readMessages[entity] }, trace: null };
  };
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
type ActOf = (tenantId: string, tenantKeys: TenantKeys) => Act;
type Actor = { readonly actorType: 'operator' | 'system'; readonly sourceAddress: string | null };

/**
 * Does not wait until the entries are written, because the service must be able to start even if the access log cannot
 * be written.
 */
async function recordInEachTenant(vault: Vault, actor: Actor, actOf: ActOf): Promise<void> {
  for (const record of await vault.directory.list('tenant')) await recordInTenant(vault, record, actor, actOf);
}

async function recordInTenant(
  { keys, clock, recorder }: Vault,
  { id: tenantId, removedAt }: DirectoryRecord,
  { actorType, sourceAddress }: Actor,
  actOf: ActOf,
): Promise<void> {
  const tenantKeys = removedAt === null ? await keys.tenantKeys(tenantId) : null;
  if (tenantKeys === null) return;
  const { fact, trace } = actOf(tenantId, tenantKeys);
  const actor: AccessActor = { tenantId, actorId: actorType, actorType, keyId: null, sourceAddress };
  recorder.soon(entriesOfActor(actor, trace, clock.now(), [fact]));
}
