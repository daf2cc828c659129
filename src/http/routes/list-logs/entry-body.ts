import type { ShownEntry } from '../../../commands/access-log/read-log.js';
import { formatTimestamp } from '../../../domain/time/format-timestamp.js';

/** An entry as `GET /logs` shows it; a field without a value is absent. */
export function entryBody({ entry, entityId, traceId }: ShownEntry) {
  const { keyId, sourceAddress, entityRef } = entry;
  return {
    tenant_id: entry.tenantId,
    actor_id: entry.actorId,
    actor_type: entry.actorType,
    ...(keyId === null ? {} : { key_id: keyId }),
    ...(sourceAddress === null ? {} : { source_address: sourceAddress }),
    entity_type: entry.entityType,
    ...(entityId === null ? {} : { entity_id: entityId }),
    ...(entityRef === null ? {} : { entity_ref: entityRef }),
    operation: entry.operation,
    outcome: entry.outcome,
    message: entry.message,
    ...(traceId === null ? {} : { trace_id: traceId }),
    created_at: formatTimestamp(entry.time),
  };
}
