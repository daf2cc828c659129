import { hkdfSync } from 'node:crypto';
import type { Visitor } from '../../domain/access/visitor.js';
import { type CiphertextPlace, openCiphertext, sealCiphertext } from './ciphertext.js';
import { paddedJson } from './json-ciphertext.js';

/** The place that a trace is bound to. */
export type TracePlace = Pick<CiphertextPlace, 'tenantId' | 'stream' | 'revision'>;

/** A tenant's keys for traces, from `KeyRing.tenantKeys`. */
type TraceKeys = { readonly audit: Buffer; readonly traceEpoch: () => number };

/** The stored facts about the request that caused an event or entry. */
export type Trace = {
  readonly traceId: string;
  /** Null if the request has neither a person nor a reason. */
  readonly visitor: Visitor | null;
};

const epochBytes = 4;
const keyBytes = 32;

/** A trace that is not encrypted yet. `key` is the tenant's trace key of the epoch. */
export type PendingTrace = { readonly text: string; readonly epoch: number; readonly key: Buffer };

/**
 * Prepares a trace for encryption. The key is derived from the tenant's audit key and the current epoch (HKDF, RFC
 * 5869). Each derived key encrypts only a bounded number of traces.
 */
export function pendingTrace(keys: TraceKeys, trace: Trace): PendingTrace {
  const epoch = keys.traceEpoch();
  return { text: textOf(trace), epoch, key: epochKey(keys.audit, epoch) };
}

/** Encrypts the trace id, person and reason of the request that caused an event or entry. */
export function sealTrace(keys: TraceKeys, trace: Trace, at: TracePlace): Buffer {
  return sealPending(pendingTrace(keys, trace), at);
}

/** Encrypts a trace. */
export function sealPending({ text, epoch, key }: PendingTrace, at: TracePlace): Buffer {
  return seal(text, epoch, key, ciphertextPlace(at, 'trace'));
}

/**
 * Encrypts traces that have the same key in one ciphertext, which is faster than one ciphertext for each trace.
 * `openTrace` finds a trace by its index in the list.
 */
export function sealTogether(traces: readonly [PendingTrace, ...PendingTrace[]], at: TracePlace): Buffer {
  const [{ epoch, key }] = traces;
  const texts = traces.map(({ text }) => text);
  return seal(paddedJson(texts), epoch, key, ciphertextPlace(at, 'traces'));
}

/** The stored bytes begin with the epoch, so older traces stay readable. */
function seal(text: string, epoch: number, key: Buffer, place: CiphertextPlace): Buffer {
  const head = Buffer.alloc(epochBytes);
  head.writeUInt32BE(epoch);
  return Buffer.concat([head, sealCiphertext(key, text, place)]);
}

/**
 * Decrypts a trace. `index` is its index in a ciphertext of several traces, or null for a ciphertext of one trace.
 * Returns null if the ciphertext is damaged or was sealed for a different place, or if it has no trace with this index.
 */
export function openTrace(
  auditKey: Buffer,
  stored: Uint8Array,
  at: TracePlace,
  index: number | null = null,
): Trace | null {
  if (stored.length < epochBytes) return null;
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const key = epochKey(auditKey, bytes.readUInt32BE(0));
  // Threat: an attacker removes or adds the index of an entry. A ciphertext of one trace and one of several are bound to
  // different fields, so neither can be opened as the other.
  const place = ciphertextPlace(at, index === null ? 'trace' : 'traces');
  const opened = openCiphertext(key, bytes.subarray(epochBytes), place)?.toString('utf8');
  if (opened === undefined) return null;
  const text = index === null ? opened : (JSON.parse(opened) as readonly string[])[index];
  return text === undefined ? null : traceIn(text);
}

/**
 * Returns the text to encrypt. If `visitor` is null, the text is only the trace id, as in the original format. No trace
 * id begins with a bracket, so the original format cannot be confused with the newer format.
 */
function textOf({ traceId, visitor }: Trace): string {
  return visitor === null ? traceId : paddedJson([traceId, visitor.name, visitor.issuer, visitor.reason]);
}

function traceIn(text: string): Trace {
  if (!text.startsWith('[')) return { traceId: text, visitor: null };
  const [traceId, name, issuer, reason] = JSON.parse(text) as [string, string | null, string | null, string | null];
  return { traceId, visitor: { name, issuer, reason } };
}

/** For each audit key: the epoch that was used last, and the key that was derived for that epoch. */
const derived = new WeakMap<Buffer, { readonly epoch: number; readonly key: Buffer }>();

function epochKey(auditKey: Buffer, epoch: number): Buffer {
  const known = derived.get(auditKey);
  if (known?.epoch === epoch) return known.key;
  const key = Buffer.from(hkdfSync('sha256', auditKey, Buffer.alloc(0), `strongroom.trace.${epoch}`, keyBytes));
  derived.set(auditKey, { epoch, key });
  return key;
}

function ciphertextPlace({ tenantId, stream, revision }: TracePlace, field: 'trace' | 'traces'): CiphertextPlace {
  return { tenantId, stream, revision, keyId: 'audit', field };
}
