import { hkdfSync } from 'node:crypto';
import type { Visitor } from '../../domain/access/visitor.js';
import { type CiphertextPlace, openCiphertext, sealCiphertext } from './ciphertext.js';
import { paddedJson } from './json-ciphertext.js';

type TracePlace = Pick<CiphertextPlace, 'tenantId' | 'stream' | 'revision'>;

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

/**
 * Encrypts the trace id, person and reason of the request that caused an event or entry. The encryption key is derived
 * from the tenant's audit key and the current epoch (HKDF, RFC 5869). The stored bytes begin with the epoch, so older
 * traces stay readable. Each derived key encrypts only a bounded number of traces.
 */
export function sealTrace(keys: TraceKeys, trace: Trace, at: TracePlace): Buffer {
  const epoch = keys.traceEpoch();
  const head = Buffer.alloc(epochBytes);
  head.writeUInt32BE(epoch);
  return Buffer.concat([head, sealCiphertext(epochKey(keys.audit, epoch), textOf(trace), boxPlace(at))]);
}

/** Decrypts a trace. Returns null if the ciphertext is damaged or was sealed for a different place. */
export function openTrace(auditKey: Buffer, stored: Uint8Array, at: TracePlace): Trace | null {
  if (stored.length < epochBytes) return null;
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const key = epochKey(auditKey, bytes.readUInt32BE(0));
  const text = openCiphertext(key, bytes.subarray(epochBytes), boxPlace(at))?.toString('utf8');
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

function boxPlace({ tenantId, stream, revision }: TracePlace): CiphertextPlace {
  return { tenantId, stream, revision, keyId: 'audit', field: 'trace' };
}
