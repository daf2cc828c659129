import { createHash } from 'node:crypto';
import type { AccessEntry } from './access-entry.js';

/** The `previous` hash of the first batch in a chain. */
export const noBatch: Uint8Array = new Uint8Array(32);

/**
 * Returns the SHA-256 hash over the previous hash, the sequence number and the lines of a batch. The hash is a link in
 * the chain (docs/design.md, "Access log").
 */
export function batchHash(previous: Uint8Array, sequence: number, lines: readonly string[]): Buffer {
  return createHash('sha256')
    .update(previous)
    .update([sequence, ...lines, ''].join('\n'))
    .digest();
}

type Fields = readonly [
  tenantId: string,
  time: number,
  actorId: string,
  actorType: AccessEntry['actorType'],
  keyId: string | null,
  sourceAddress: string | null,
  entityType: string,
  entityRef: string | null,
  entityId: string | null,
  operation: string,
  outcome: AccessEntry['outcome'],
  message: string,
  trace: string | null,
  traceStream?: string,
  traceRevision?: number,
];

/** Parses a line returned by `entryLine`. */
export function entryOfLine(line: string): AccessEntry {
  const fields = JSON.parse(line) as Fields;
  const [tenantId, time, actorId, actorType, keyId, sourceAddress, entityType, entityRef, entityId] = fields;
  const [, , , , , , , , , operation, outcome, message, trace, stream, revision] = fields;
  return {
    tenantId,
    time,
    actorId,
    actorType,
    keyId,
    sourceAddress,
    entityType,
    entityRef,
    entityId,
    operation,
    outcome,
    message,
    trace: trace === null ? null : Buffer.from(trace, 'base64'),
    tracePlace: stream === undefined || revision === undefined ? null : { stream, revision },
  };
}

/**
 * Returns all fields of an entry as one line of JSON, always in the same order. The hashes in the chain cover these
 * bytes.
 */
export function entryLine(entry: AccessEntry): string {
  const { trace, tracePlace } = entry;
  const fields: (string | number | null)[] = [
    entry.tenantId,
    entry.time,
    entry.actorId,
    entry.actorType,
    entry.keyId,
    entry.sourceAddress,
    entry.entityType,
    entry.entityRef,
    entry.entityId,
    entry.operation,
    entry.outcome,
    entry.message,
    trace === null ? null : Buffer.from(trace.buffer, trace.byteOffset, trace.byteLength).toString('base64'),
  ];
  if (tracePlace !== null) fields.push(tracePlace.stream, tracePlace.revision);
  return JSON.stringify(fields);
}
