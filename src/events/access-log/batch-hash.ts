import { createHash } from 'node:crypto';
import type { AccessEntry, AccessOutcome, ActorType, NewAccessEntry } from './access-entry.js';

/** The `previous` hash of the first batch in a chain. */
export const noBatch: Uint8Array = new Uint8Array(32);

/**
 * Returns the SHA-256 hash over the previous hash, the sequence number and the lines of a batch. The hash is a link in
 * the chain (docs/design.md, "Access log"). An element of `lines` can also contain several lines with line breaks
 * between them.
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

/** At least one entry. Consecutive entries that share a line are a group. */
export type Group<E> = readonly [E, ...E[]];

/** The trace in a line: a ciphertext, with an index if it contains several traces, or an index in an earlier one. */
type TraceField = null | string | readonly [trace: string, index: number] | number;

/** The trace of an entry that is stored. */
export type SealedTrace = Pick<AccessEntry, 'trace' | 'traceIndex'>;

type Grouped = NewAccessEntry & { readonly traceIndex?: number | null };

/**
 * Returns the lines of a batch with these entries. The hashes in the chain cover these lines, so this function must
 * depend on nothing but the entries (docs/design.md, "Access log").
 */
export function linesOf(entries: readonly AccessEntry[]): string[] {
  const lineOfGroup = lineWriter();
  return groupsOf(entries).map((group) => lineOfGroup(group, group[0]));
}

/** Splits entries into groups of consecutive entries that share a line. */
export function groupsOf<E extends NewAccessEntry>(entries: readonly E[]): readonly Group<E>[] {
  const groups: [E, ...E[]][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    if (group !== undefined && group.length < entriesOfLineMax && shareLine(group[0], entry)) group.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

/**
 * Returns a function that returns the line of a group with its trace. Call it for the groups of a batch in their order.
 * If a ciphertext contains the traces of several requests, only the first of their lines contains it. An index without
 * a ciphertext is written too, so that the hash shows that an attacker added it.
 */
export function lineWriter(): (group: Group<NewAccessEntry>, trace: SealedTrace) => string {
  let written: Uint8Array | null = null;
  return (group, { trace, traceIndex }) => {
    if (trace === null || (traceIndex !== null && isSameTrace(written, trace))) return lineOf(group, traceIndex);
    const { buffer, byteOffset, byteLength } = trace;
    const ciphertext = Buffer.from(buffer, byteOffset, byteLength).toString('base64');
    if (traceIndex === null) return lineOf(group, ciphertext);
    written = trace;
    return lineOf(group, [ciphertext, traceIndex]);
  };
}

function lineOf(group: Group<NewAccessEntry>, trace: TraceField): string {
  const [entry] = group;
  const fields: (TraceField | readonly (string | null)[])[] = [
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
    trace,
  ];
  if (entry.tracePlace !== null) fields.push(entry.tracePlace.stream, entry.tracePlace.revision);
  return JSON.stringify(fields);
}

/**
 * Returns true if two entries differ at most in `entityRef` and are of the same request. Each ciphertext has a random
 * nonce, so only entries of one request have the same ciphertext and the same index.
 */
function shareLine(one: Grouped, other: Grouped): boolean {
  return (
    isSameTrace(one.trace, other.trace) &&
    (one.traceIndex ?? null) === (other.traceIndex ?? null) &&
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

function isSameTrace(one: NewAccessEntry['trace'], other: NewAccessEntry['trace']): boolean {
  if (one === null || other === null) return false;
  if (one === other) return true;
  return one instanceof Uint8Array && other instanceof Uint8Array && Buffer.compare(one, other) === 0;
}

/** The length of the end of a line that `mayShareLine` compares. Even the shortest fields after `entityRef` fill it. */
const comparedEnd = 16;

/**
 * Returns false if no entry in the last line of `before` can share a line with an entry in the first line of `after`.
 * If it returns true, the two texts must not be in the same batch, because a verifier might join the two lines. The
 * function compares only the ends of the lines, which are the ends of their traces, and is therefore fast.
 */
export function mayShareLine(before: string, after: string): boolean {
  const lineBreak = after.indexOf('\n');
  const end = lineBreak === -1 ? after.length : lineBreak;
  const compared = after.slice(Math.max(0, end - comparedEnd), end);
  return before.endsWith(compared) && !compared.endsWith('null]');
}

const [fieldsOfLine, fieldsOfLineWithPlace] = [13, 15];

/** Parses the lines of a batch. Returns null if one of them is not a line that `linesOf` returns. */
export function parseLines(lines: readonly string[]): AccessLine[] | null {
  const parsed: AccessLine[] = [];
  let several: Uint8Array | null = null;
  for (const line of lines) {
    const entries = parseLine(line, several);
    if (entries === null) return null;
    if (entries.shared.traceIndex !== null) several = entries.shared.trace;
    parsed.push(entries);
  }
  return parsed;
}

/** Parses a line. `several` is the newest ciphertext of several traces in the lines before it. */
function parseLine(line: string, several: Uint8Array | null): AccessLine | null {
  const fields = jsonIn(line);
  if (!Array.isArray(fields)) return null;
  if (fields.length !== fieldsOfLine && fields.length !== fieldsOfLineWithPlace) return null;
  const [tenantId, time, actorId, actorType, keyId, sourceAddress, entityType, ref, entityId] = fields;
  const [operation, outcome, message, trace, stream, revision] = fields.slice(9);
  const refs: unknown = Array.isArray(ref) ? ref : [ref];
  const shared: unknown = {
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
    ...traceIn(trace, several),
    tracePlace: fields.length === fieldsOfLine ? null : { stream, revision },
  };
  return areRefs(refs) && hasFieldsOfEntry(shared) ? { shared, refs } : null;
}

/** Returns the trace of a line. Returns values that no entry has if `field` is not one that `lineWriter` writes. */
function traceIn(
  field: unknown,
  several: Uint8Array | null,
): { readonly trace: unknown; readonly traceIndex: unknown } {
  if (typeof field === 'string') return { trace: Buffer.from(field, 'base64'), traceIndex: null };
  if (typeof field === 'number') return { trace: several, traceIndex: field };
  if (!Array.isArray(field)) return { trace: field, traceIndex: null };
  const [trace, traceIndex] = field;
  return { trace: typeof trace === 'string' ? Buffer.from(trace, 'base64') : trace, traceIndex };
}

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** An `entityRef` in a line: whole bytes in hex. */
const refPattern = /^(?:[0-9a-f]{2})*$/;

function areRefs(refs: unknown): refs is AccessLine['refs'] {
  return (
    Array.isArray(refs) &&
    refs.length > 0 &&
    refs.every((ref) => ref === null || (typeof ref === 'string' && refPattern.test(ref)))
  );
}

/** The first and the last millisecond of the years 0 to 9999. A month in these years has a name that readers know. */
const [timeMin, timeMax] = [Date.parse('0000-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

const actorTypes: readonly unknown[] = ['application', 'operator', 'system'] satisfies ActorType[];
const outcomes: readonly unknown[] = ['success', 'denied', 'failed'] satisfies AccessOutcome[];

/**
 * Returns true if a value has the fields of an entry except `entityRef`, with the right types, and its time is in the
 * years 0 to 9999. Threat: a line or a row that the vault did not write makes the code that uses it fail.
 */
export function hasFieldsOfEntry(value: unknown): value is AccessLine['shared'] {
  const entry = value as { readonly [Field in keyof AccessLine['shared']]: unknown };
  return (
    isText(entry.tenantId) &&
    Number.isInteger(entry.time) &&
    Number(entry.time) >= timeMin &&
    Number(entry.time) <= timeMax &&
    isText(entry.actorId) &&
    actorTypes.includes(entry.actorType) &&
    isTextOrNull(entry.keyId) &&
    isTextOrNull(entry.sourceAddress) &&
    isText(entry.entityType) &&
    isTextOrNull(entry.entityId) &&
    isText(entry.operation) &&
    outcomes.includes(entry.outcome) &&
    isText(entry.message) &&
    (entry.trace === null || entry.trace instanceof Uint8Array) &&
    (entry.traceIndex === null || (entry.trace !== null && Number.isSafeInteger(entry.traceIndex))) &&
    isTracePlace(entry.tracePlace)
  );
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function isTracePlace(place: unknown): boolean {
  if (place === null) return true;
  const { stream, revision } = place as { readonly [Field in keyof NonNullable<AccessEntry['tracePlace']>]: unknown };
  return typeof stream === 'string' && Number.isSafeInteger(revision);
}
