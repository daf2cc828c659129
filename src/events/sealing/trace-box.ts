import { type BoxPlace, sealBox } from './box.js';

/** Seals the trace id of the request that caused an event, under the tenant's audit key. */
export function sealTrace(auditKey: Buffer, traceId: string, at: Pick<BoxPlace, 'tenantId' | 'stream' | 'revision'>) {
  const { tenantId, stream, revision } = at;
  return sealBox(auditKey, Buffer.from(traceId), { tenantId, stream, revision, keyId: 'audit', field: 'trace' });
}
