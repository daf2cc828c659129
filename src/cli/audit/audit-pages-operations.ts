import { z } from 'zod';
import { readChained } from '../../audit/read-chained.js';
import { linesOf } from '../../events/access-log/batch-hash.js';
import { operation } from '../operations/operation.js';

/** Returns a page of the log, including the links between events. Sealed values stay encrypted. */
export const auditEvents = operation(
  z.object({ after: z.int().min(0), upTo: z.int().min(0) }),
  async ({ vault }, { after, upTo }) => {
    const { storedLog: log, chain, keys } = vault;
    const { lines, ...rest } = await readChained({ log, chain, keys }, after, upTo);
    return { lines: [...lines], ...rest };
  },
);

const batchesMax = 100;

/** Returns batches from one access log chain, each with the lines covered by its hash. */
export const auditAccess = operation(
  z.object({ chain: z.string(), after: z.int().min(0) }),
  async ({ vault }, { chain, after }) => {
    const batches = await vault.accessLog.batches(chain, after, batchesMax);
    return {
      batches: batches.map(({ sequence, previous, hash, entries }) => ({
        sequence,
        previous: Buffer.from(previous).toString('hex'),
        hash: Buffer.from(hash).toString('hex'),
        lines: linesOf(entries),
      })),
    };
  },
);
