import type { AccessEntry, AccessOutcome, ActorType } from '../../../events/access-log/access-entry.js';

/** The document for one entry of the access log. A field that is null in the entry is absent from the document. */
export type EntryDocument = {
  /** The chain id, the batch's sequence number, and the entry's number in the batch, encoded by `entry-key.ts`. */
  readonly _id: Buffer;
  readonly tenant: string;
  readonly time: number;
  readonly actor: string;
  readonly actor_type: string;
  readonly key?: string;
  readonly source?: string;
  readonly type: string;
  readonly ref?: Buffer;
  readonly entity?: string;
  readonly operation: string;
  readonly outcome: string;
  readonly message: string;
  readonly trace?: Buffer;
  readonly trace_stream?: string;
  readonly trace_revision?: number;
  /**
   * Present only in the last entry of a batch. If no entry of a batch has this field, the batch was not stored
   * completely and was never acknowledged.
   */
  readonly batch?: { readonly previous: Buffer; readonly hash: Buffer };
};

export function entryDocument(
  _id: Buffer,
  entry: AccessEntry,
  link: NonNullable<EntryDocument['batch']> | null,
): EntryDocument {
  const { tenantId: tenant, time, keyId: key, sourceAddress: source, entityRef, entityId: entity, tracePlace } = entry;
  const { trace } = entry;
  return {
    _id,
    tenant,
    time,
    actor: entry.actorId,
    actor_type: entry.actorType,
    type: entry.entityType,
    operation: entry.operation,
    outcome: entry.outcome,
    message: entry.message,
    ...(key === null ? {} : { key }),
    ...(source === null ? {} : { source }),
    ...(entityRef === null ? {} : { ref: Buffer.from(entityRef, 'hex') }),
    ...(entity === null ? {} : { entity }),
    ...(trace === null ? {} : { trace: Buffer.from(trace.buffer, trace.byteOffset, trace.byteLength) }),
    ...(tracePlace === null ? {} : { trace_stream: tracePlace.stream, trace_revision: tracePlace.revision }),
    ...(link === null ? {} : { batch: link }),
  };
}

/**
 * Returns the entry of a document. Threat: an attacker replaces `ref` or `trace` with a value of another type. The
 * entry then has null in its place, so the hash of the batch no longer matches.
 */
export function entryOf(document: EntryDocument): AccessEntry {
  const { trace_stream: stream, trace_revision: revision } = document;
  return {
    tenantId: document.tenant,
    time: document.time,
    actorId: document.actor,
    actorType: document.actor_type as ActorType,
    keyId: document.key ?? null,
    sourceAddress: document.source ?? null,
    entityType: document.type,
    entityRef: Buffer.isBuffer(document.ref) ? document.ref.toString('hex') : null,
    entityId: document.entity ?? null,
    operation: document.operation,
    outcome: document.outcome as AccessOutcome,
    message: document.message,
    trace: Buffer.isBuffer(document.trace) ? document.trace : null,
    traceIndex: null,
    tracePlace: stream === undefined || revision === undefined ? null : { stream, revision },
  };
}
