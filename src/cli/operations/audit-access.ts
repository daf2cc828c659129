import { z } from 'zod';
import { entryLine } from '../../events/access-log/batch-hash.js';
import { operation } from './operation.js';

const batchesMax = 100;

/** Batches of a chain of the access log, with the lines that their hashes are over. */
export const auditAccess = operation(
  z.object({ chain: z.string(), after: z.int().min(0) }),
  async ({ vault }, { chain, after }) => {
    const batches = await vault.accessLog.batches(chain, after, batchesMax);
    return {
      batches: batches.map(({ sequence, previous, hash, entries }) => ({
        ...{ sequence, previous: hex(previous), hash: hex(hash), lines: entries.map(entryLine) },
      })),
    };
  },
);

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
