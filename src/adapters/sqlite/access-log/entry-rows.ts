import type { AccessEntry, AccessOutcome, ActorType } from '../../../events/access-log/access-entry.js';

export type EntryRow = {
  readonly batch: number;
  readonly tenant: string;
  readonly time: number;
  readonly actor: string;
  readonly actor_type: string;
  readonly key: string | null;
  readonly source: string | null;
  readonly entity_type: string;
  readonly ref: Buffer | null;
  readonly entity: string | null;
  readonly operation: string;
  readonly outcome: string;
  readonly message: string;
  readonly trace: Buffer | null;
  readonly trace_stream: string | null;
  readonly trace_revision: number | null;
};

const words = ['tenant', 'actor', 'actor_type', 'key', 'source', 'entity_type', 'entity', 'operation', 'outcome'];

/** The columns of an `EntryRow`, each word as its text. */
export const entryColumns = [
  ...['batch', 'time', 'ref', 'trace', 'trace_stream', 'trace_revision'],
  ...[...words, 'message'].map((column) => `(SELECT text FROM words WHERE id = entries.${column}) AS ${column}`),
].join(', ');

export function entryOf({ trace_stream: stream, trace_revision: revision, ...row }: EntryRow): AccessEntry {
  return {
    ...{ tenantId: row.tenant, time: row.time, actorId: row.actor, actorType: row.actor_type as ActorType },
    ...{ keyId: row.key, sourceAddress: row.source, entityType: row.entity_type, entityId: row.entity },
    ...{ entityRef: row.ref?.toString('hex') ?? null, operation: row.operation },
    ...{ outcome: row.outcome as AccessOutcome, message: row.message, trace: row.trace },
    tracePlace: stream === null || revision === null ? null : { stream, revision },
  };
}
