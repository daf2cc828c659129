import { hkdfSync } from 'node:crypto';
import type { AccessContext } from '../../domain/access/access-context.js';
import { type CiphertextPlace, openCiphertext, sealCiphertext } from './ciphertext.js';
import { paddedJson } from './json-ciphertext.js';

type TracePlace = Pick<CiphertextPlace, 'tenantId' | 'stream' | 'revision'>;

/** The keys for traces of a tenant: `KeyRing.tenantKeys`. */
type TraceKeys = { readonly audit: Buffer; readonly traceEpoch: () => number };

const epochBytes = 4;
const keyBytes = 32;

/** A trace id with the person and the reason of its request. */
export type Trace = AccessContext & { readonly traceId: string };

/**
 * Encrypts the trace id of the request that caused an event or entry, and its context if there is one. The key is
 * derived from the tenant's audit key for the current epoch (HKDF, RFC 5869), and the stored bytes begin with the
 * epoch. So each key encrypts a bounded number of traces, and older traces stay readable.
 */
export function sealTrace(keys: TraceKeys, traceId: string, at: TracePlace, context?: AccessContext): Buffer {
  const epoch = keys.traceEpoch();
  const head = Buffer.alloc(epochBytes);
  head.writeUInt32BE(epoch);
  const plain = traceBytes(traceId, context);
  return Buffer.concat([head, sealCiphertext(epochKey(keys.audit, epoch), plain, boxPlace(at))]);
}

/** Decrypts a trace; null if the ciphertext is damaged or moved. */
export function openTrace(auditKey: Buffer, stored: Uint8Array, at: TracePlace): Trace | null {
  if (stored.length < epochBytes) return null;
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const key = epochKey(auditKey, bytes.readUInt32BE(0));
  const plain = openCiphertext(key, bytes.subarray(epochBytes), boxPlace(at))?.toString('utf8');
  return plain === undefined ? null : traceOf(plain);
}

/** A trace id alone is stored as it is. With a context it is a JSON object, whose first byte no trace id contains. */
function traceBytes(traceId: string, context: AccessContext | undefined): Buffer {
  const { person = null, reason = null } = context ?? {};
  return person === null && reason === null ? Buffer.from(traceId) : paddedJson({ traceId, person, reason });
}

function traceOf(plain: string): Trace {
  return plain.startsWith('{') ? (JSON.parse(plain) as Trace) : { traceId: plain, person: null, reason: null };
}

/** For each audit key, the key of the most recently used epoch. */
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
