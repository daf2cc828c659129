import { z } from 'zod';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { readChained } from '../../audit/read-chained.js';
import { linesOf } from '../../events/access-log/batch-hash.js';
import { endedKeys } from '../../events/event-keys.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { pageAnswer, pageFields, rangeOf } from '../../http/pagination.js';
import { tokenHistory } from '../../queries/token-history.js';
import { allClearEvents } from '../../vault/load-token.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import { applicationOperation, unwrap } from '../operations/as-application.js';
import { operation } from '../operations/operation.js';

/** Returns a page of the log, including the links between events. Sealed values stay encrypted. */
export const auditEvents = operation(
  z.object({ after: z.int().min(0), upTo: z.int().min(0) }),
  async ({ vault }, { after, upTo }) => {
    const { storedLog: log, chain, keys } = vault;
    const { lines, forged, next } = await readChained({ log, chain, keys }, after, upTo);
    return { lines: [...lines], forged, next };
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

/**
 * Returns a token's history in the form that `GET /tokens/{id}/history` returns. For each event with sealed values,
 * also states whether the vault still has those values (`kept`) or has erased them (`erased`).
 */
export const auditHistory = applicationOperation(
  z.object({ key: z.string(), id: z.string(), ...pageFields }),
  ['log:read', 'token:read'],
  async ({ vault }, context, { id, ...page }) => {
    const { caller } = context;
    const { entries, total } = unwrap(await tokenHistory(vault, context, id, rangeOf(page)));
    const events = await allClearEvents(vault.log, tokenStream((await tenantKeysOf(vault, caller.tenantId)).names, id));
    await vault.confirmReads(context.beganAt);
    await recordManagementRead(vault, context, 'token', id);
    const ended = new Set(endedKeys(events).map(({ keyId }) => keyId));
    const data = entries.map((entry) => {
      const sealedBy = events.find(({ revision }) => revision === entry['revision'])?.clear['key'];
      return typeof sealedBy === 'string' ? { ...entry, values: ended.has(sealedBy) ? 'erased' : 'kept' } : entry;
    });
    return pageAnswer(page, total, data);
  },
);
