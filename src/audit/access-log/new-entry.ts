import type { AccessEntry, NewAccessEntry } from '../../events/access-log/access-entry.js';
import { pendingTrace } from '../../events/sealing/trace-ciphertext.js';
import type { TenantKeys } from '../../keys/key-ring.js';
import type { RequestContext } from '../../vault/request-context.js';
import type { AccessEntity, AccessOperation } from './operation.js';

/** An operation on an entity, and its outcome. */
export type AccessFact = {
  readonly entity: AccessEntity;
  readonly ref: string | null;
  /** The entity's id. Absent for tokens. */
  readonly entityId?: string | null;
  readonly operation: AccessOperation;
  readonly outcome?: AccessEntry['outcome'];
  readonly message: string;
};

/** The fields of an access-log entry that identify who made a request. */
export type AccessActor = Pick<AccessEntry, 'tenantId' | 'actorId' | 'actorType' | 'keyId' | 'sourceAddress'>;

/** Creates the entries for one request of an application. */
export function entriesOfRequest(
  { caller, traceId }: Pick<RequestContext, 'caller' | 'traceId'>,
  tenantKeys: TenantKeys,
  time: number,
  facts: readonly AccessFact[],
): NewAccessEntry[] {
  const { tenantId, applicationId: actorId, keyId, sourceAddress = null, visitor = null } = caller;
  const actor: AccessActor = { tenantId, actorId, actorType: 'application', keyId, sourceAddress };
  return entriesOfActor(actor, pendingTrace(tenantKeys, { traceId, visitor }), time, facts);
}

/** Creates the entries for one action. All entries share one trace, so it is encrypted only once. */
export function entriesOfActor(
  { tenantId, actorId, actorType, keyId, sourceAddress }: AccessActor,
  trace: NewAccessEntry['trace'],
  time: number,
  facts: readonly AccessFact[],
): NewAccessEntry[] {
  // The fields are listed one by one, because spreading the objects would take as much time as an encryption.
  return facts.map(({ entity, ref, entityId = null, operation, outcome = 'success', message }) => ({
    tenantId,
    time,
    actorId,
    actorType,
    keyId,
    sourceAddress,
    entityType: entity,
    entityRef: ref,
    entityId,
    operation,
    outcome,
    message,
    trace,
    tracePlace: null,
  }));
}
