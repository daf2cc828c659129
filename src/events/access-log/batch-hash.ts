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

/**
 * The maximum number of entries in one line. A limit that depends only on the number of entries gives the same lines to
 * every verifier, and keeps the longest line far below the size of a batch.
 */
const entriesOfLineMax = 1_000;

/** A parsed line: the fields that its entries share, and the `entityRef` of each entry, in order. */
export type AccessLine = {
  readonly shared: Omit<AccessEntry, 'entityRef'>;
  readonly refs: readonly AccessEntry['entityRef'][];
};

type Fields = readonly [
  tenantId: string,
  time: number,
  actorId: string,
  actorType: AccessEntry['actorType'],
  keyId: string | null,
  sourceAddress: string | null,
  entityType: string,
  entityRef: string | null | readonly (string | null)[],
  entityId: string | null,
  operation: string,
  outcome: AccessEntry['outcome'],
  message: string,
  trace: string | null,
  traceStream?: string,
  traceRevision?: number,
];

/**
 * Returns the lines of a batch with these entries. The hashes in the chain cover these lines, so this function must
 * depend on nothing but the entries (docs/design.md, "Access log").
 */
export function linesOf(entries: readonly AccessEntry[]): string[] {
  return groupsOf(entries).map(lineOf);
}

/** Splits entries into groups of consecutive entries that share a line. */
export function groupsOf(entries: readonly AccessEntry[]): readonly (readonly AccessEntry[])[] {
  const groups: AccessEntry[][] = [];
  let group: AccessEntry[] = [];
  for (const entry of entries) {
    const [first] = group;
    if (first !== undefined && group.length < entriesOfLineMax && shareLine(first, entry)) {
      group.push(entry);
      continue;
    }
    group = [entry];
    groups.push(group);
  }
  return groups;
}

/** Returns the line of a group that `groupsOf` returned. */
export function lineOf(group: readonly AccessEntry[]): string {
  const [entry] = group;
  if (entry === undefined) throw new Error('a line has at least one entry');
  const { trace, tracePlace } = entry;
  const fields: (string | number | null | readonly (string | null)[])[] = [
    entry.tenantId,
    entry.time,
    entry.actorId,
    entry.actorType,
    entry.keyId,
    entry.sourceAddress,
    entry.entityType,
    group.length === 1 ? entry.entityRef : group.map(({ entityRef }) => entityRef),
    entry.entityId,
    entry.operation,
    entry.outcome,
    entry.message,
    trace === null ? null : Buffer.from(trace.buffer, trace.byteOffset, trace.byteLength).toString('base64'),
  ];
  if (tracePlace !== null) fields.push(tracePlace.stream, tracePlace.revision);
  return JSON.stringify(fields);
}

/**
 * Returns true if two entries differ at most in `entityRef` and are of the same request. Each trace is encrypted with a
 * random nonce, so only entries of one request have the same ciphertext.
 */
function shareLine(one: AccessEntry, other: AccessEntry): boolean {
  return (
    isSameTrace(one.trace, other.trace) &&
    one.tenantId === other.tenantId &&
    one.time === other.time &&
    one.actorId === other.actorId &&
    one.actorType === other.actorType &&
    one.keyId === other.keyId &&
    one.sourceAddress === other.sourceAddress &&
    one.entityType === other.entityType &&
    one.entityId === other.entityId &&
    one.operation === other.operation &&
    one.outcome === other.outcome &&
    one.message === other.message &&
    one.tracePlace?.stream === other.tracePlace?.stream &&
    one.tracePlace?.revision === other.tracePlace?.revision
  );
}

function isSameTrace(one: AccessEntry['trace'], other: AccessEntry['trace']): boolean {
  return one !== null && other !== null && (one === other || Buffer.compare(one, other) === 0);
}

/** The length of the end of a line that `mayShareLine` compares. Even the shortest fields after `entityRef` fill it. */
const comparedEnd = 16;

/**
 * Returns false if no entry in the last line of `before` can share a line with an entry in the first line of `after`.
 * If it returns true, the two texts must not be in the same batch, because a verifier might join the two lines. The
 * function compares only the ends of the lines, which are ends of ciphertexts, and is therefore fast.
 */
export function mayShareLine(before: string, after: string): boolean {
  const lineBreak = after.indexOf('\n');
  const end = lineBreak === -1 ? after.length : lineBreak;
  const compared = after.slice(Math.max(0, end - comparedEnd), end);
  return before.endsWith(compared) && !compared.endsWith('null]');
}

/** Parses a line that `lineOf` returned. */
export function parseLine(line: string): AccessLine {
  const fields = JSON.parse(line) as Fields;
  const [tenantId, time, actorId, actorType, keyId, sourceAddress, entityType, ref, entityId] = fields;
  const [, , , , , , , , , operation, outcome, message, trace, stream, revision] = fields;
  return {
    shared: {
      tenantId,
      time,
      actorId,
      actorType,
      keyId,
      sourceAddress,
      entityType,
      entityId,
      operation,
      outcome,
      message,
      trace: trace === null ? null : Buffer.from(trace, 'base64'),
      tracePlace: stream === undefined || revision === undefined ? null : { stream, revision },
    },
    refs: typeof ref === 'object' && ref !== null ? ref : [ref],
  };
}
