import type { ActorType, NewAccessEntry } from '../../events/access-log/access-entry.js';
import { entityRef, refOfTokenStream } from '../../events/access-log/entity-ref.js';
import type { EventType, NewEvent } from '../../events/event.js';
import type { AccessEntity, AccessOperation } from './operation.js';

type Words = readonly [entity: AccessEntity, operation: AccessOperation, message: string];

/** Null for the events that change nothing that a tenant can see. */
const wordsByType: Readonly<Record<string, Words | null>> = {
  'token.created': ['token', 'create', 'token created'],
  'token.updated': ['token', 'update', 'token changed'],
  'token.deleted': ['token', 'delete', 'token deleted'],
  'token.expired': ['token', 'expiry', 'token expired'],
  'token.property.expired': ['token', 'purge', 'card verification code purged'],
  'token.fenced': null,
  'tenant.created': ['tenant', 'create', 'tenant created'],
  'tenant.updated': ['tenant', 'update', 'tenant changed'],
  'tenant.deleted': ['tenant', 'delete', 'tenant deleted'],
  'application.created': ['application', 'create', 'application created'],
  'application.updated': ['application', 'update', 'application changed'],
  'application.deleted': ['application', 'delete', 'application deleted'],
  'application.key.issued': ['key', 'create', 'key issued'],
  'application.key.revoked': ['key', 'delete', 'key revoked'],
  'webhook.created': ['webhook', 'create', 'webhook created'],
  'webhook.updated': ['webhook', 'update', 'webhook changed'],
  'webhook.deleted': ['webhook', 'delete', 'webhook deleted'],
  'tenant.fenced': null,
  'audit.checkpoint': null,
  'log.opened': null,
} satisfies Record<EventType, Words | null>;

const accessFields: readonly unknown[] = ['rules', 'permissions'];

/**
 * Returns the access-log entry for an event. Returns null if events of this type have no entry. `namesKey` is null if
 * the tenant keys are destroyed or unavailable. In that case, an entry about a tenant, application, key or webhook has
 * no entity reference.
 */
export function entryOfEvent(
  event: NewEvent,
  stream: string,
  revision: number,
  namesKey: Uint8Array | null,
): NewAccessEntry | null {
  const words = wordsByType[event.type] ?? null;
  if (words === null) return null;
  const [entityType, operation, message] = words;
  const entityId = entityType === 'token' ? null : entityIdOf(entityType, event);
  const ref = namesKey === null || entityId === null ? null : entityRef(namesKey, entityId);
  const { tenantId, time, actorId, source } = event;
  const trace = source?.trace ?? event.trace;
  return {
    tenantId,
    time,
    actorId,
    actorType: actorTypeOf(actorId),
    keyId: source?.keyId ?? null,
    sourceAddress: source?.sourceAddress ?? null,
    entityType,
    entityId,
    entityRef: entityType === 'token' ? refOfTokenStream(stream) : ref,
    operation,
    outcome: 'success',
    message: changesAccess(event) ? 'permissions or rules of the application changed' : message,
    trace,
    tracePlace: trace === null || trace === source?.trace ? null : { stream, revision },
  };
}

function actorTypeOf(actorId: string): ActorType {
  return actorId === 'operator' || actorId === 'system' ? actorId : 'application';
}

function entityIdOf(entity: AccessEntity, { clear, tenantId }: NewEvent): string {
  if (entity === 'tenant') return tenantId;
  if (entity === 'webhook') return String(clear['webhook_id']);
  return String(entity === 'key' ? clear['key_id'] : clear['application_id']);
}

function changesAccess({ type, clear: { changed } }: NewEvent): boolean {
  return (
    type === 'application.updated' && Array.isArray(changed) && changed.some((field) => accessFields.includes(field))
  );
}
