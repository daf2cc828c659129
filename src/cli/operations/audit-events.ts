import { z } from 'zod';
import { readChained } from '../../audit/read-chained.js';
import { operation } from './operation.js';

/** A page of the log with its links, sealed as it is. */
export const auditEvents = operation(
  z.object({ after: z.int().min(0), upTo: z.int().min(0) }),
  async ({ vault }, { after, upTo }) => {
    const { storedLog: log, chain, keys } = vault;
    const { lines, forged, next } = await readChained({ log, chain, keys }, after, upTo);
    return { lines: [...lines], forged, next };
  },
);
