import { hkdfSync } from 'node:crypto';
import { type CiphertextPlace, openCiphertext, sealCiphertext } from './ciphertext.js';

type TracePlace = Pick<CiphertextPlace, 'tenantId' | 'stream' | 'revision'>;

/** The keys for traces of a tenant: `KeyRing.tenantKeys`. */
type TraceKeys = { readonly audit: Buffer; readonly traceEpoch: () => number };

const epochBytes = 4;
const keyBytes = 32;

/**
 * Encrypts the trace id of the request that caused an event or entry. The key is derived from the tenant's audit key
 * for the current epoch (HKDF, RFC 5869), and the stored bytes begin with the epoch. So each key encrypts a bounded
 * number of traces, and older traces stay readable.
 */
export function sealTrace(keys: TraceKeys, traceId: string, at: TracePlace): Buffer {
  const epoch = keys.traceEpoch();
  const head = Buffer.alloc(epochBytes);
  head.writeUInt32BE(epoch);
  return Buffer.concat([head, sealCiphertext(epochKey(keys.audit, epoch), traceId, boxPlace(at))]);
}

/** Decrypts a trace id; null if the ciphertext is damaged or moved. */
export function openTrace(auditKey: Buffer, stored: Uint8Array, at: TracePlace): string | null {
  if (stored.length < epochBytes) return null;
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const key = epochKey(auditKey, bytes.readUInt32BE(0));
  return openCiphertext(key, bytes.subarray(epochBytes), boxPlace(at))?.toString('utf8') ?? null;
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
