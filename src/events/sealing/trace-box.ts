import { type BoxPlace, openBox, sealBox } from './box.js';

type TracePlace = Pick<BoxPlace, 'tenantId' | 'stream' | 'revision'>;

/** Seals the trace id of the request that caused an event, under the tenant's audit key. */
export function sealTrace(auditKey: Buffer, traceId: string, at: TracePlace): Buffer {
  return sealBox(auditKey, Buffer.from(traceId), boxPlace(at));
}

/** Opens it; null when it is damaged or moved. */
export function openTrace(auditKey: Buffer, box: Uint8Array, at: TracePlace): string | null {
  return openBox(auditKey, box, boxPlace(at))?.toString('utf8') ?? null;
}

function boxPlace({ tenantId, stream, revision }: TracePlace): BoxPlace {
  return { tenantId, stream, revision, keyId: 'audit', field: 'trace' };
}
