import type { Collection } from 'mongodb';
import type { DueRow } from '../../../ports/token-rows.js';
import type { RowDocument } from './row-document.js';
import { rowIndexes } from './token-rows-indexes.js';

/** Each kind of due time with its field and its index. */
const kinds = [
  { due: 'expiry', field: 'expires_at', hint: rowIndexes.expiresAt },
  { due: 'cvc', field: 'cvc_purge_at', hint: rowIndexes.cvcPurgeAt },
] as const;

/** The fields that due times are read from. */
type Due = Pick<RowDocument, '_id' | 'tenant'> & { readonly expires_at?: number; readonly cvc_purge_at?: number };

/** `TokenRows.due`. A row that was swept between the two looks is in the answer of the one and not of the other. */
export async function dueRows(
  rows: Collection<RowDocument>,
  now: number,
  limit: number,
  codesNow = now,
): Promise<readonly DueRow[]> {
  const found = kinds.map(async ({ due, field, hint }) => {
    const few = await rows
      .find<Due>({ [field]: { $lte: due === 'cvc' ? codesNow : now } }, { projection: { tenant: 1, [field]: 1 }, hint })
      .sort({ [field]: 1 })
      .limit(limit)
      .toArray();
    return few.map((row) => ({ stream: row._id, tenantId: row.tenant, due, dueAt: Number(row[field]) }));
  });
  return (await Promise.all(found))
    .flat()
    .sort((a, b) => a.dueAt - b.dueAt)
    .slice(0, limit);
}

/** `TokenRows.nextDueAt`. */
export async function nextDueAt(rows: Collection<RowDocument>): Promise<number | null> {
  const found = kinds.map(async ({ field, hint }) => {
    const first = await rows
      .find<Due>({ [field]: { $gte: Number.MIN_SAFE_INTEGER } }, { projection: { _id: 0, [field]: 1 }, hint })
      .sort({ [field]: 1 })
      .limit(1)
      .next();
    return first?.[field];
  });
  const times = (await Promise.all(found)).filter((time) => time !== undefined);
  return times.length === 0 ? null : Math.min(...times);
}
