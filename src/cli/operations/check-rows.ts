import { z } from 'zod';
import { type CheckedRows, checkClaims, checkDirectory, checkTokenRows } from '../../commands/check-rows.js';
import type { Vault } from '../../commands/vault.js';
import { operation } from './operation.js';

const place = z.object({ of: z.enum(['token', 'claim']), after: z.string() });
type Place = z.infer<typeof place>;

/**
 * One step of a check of all rows: first tenants and applications, then tokens, then claims. `from`: the `next` of the step
 * before; null: the first step.
 */
export const checkRows = operation(z.object({ from: place.nullable() }), async ({ vault }, { from }) => {
  const { rows, problems, next } = await step(vault, from);
  return { rows, problems: problems.map(({ row, what }) => ({ row: { ...row }, what })), next };
});

async function step(
  vault: Vault,
  from: Place | null,
): Promise<Omit<CheckedRows, 'next'> & { readonly next: Place | null }> {
  if (from === null) return { ...(await checkDirectory(vault)), next: { of: 'token', after: '' } };
  const checked = await (from.of === 'token' ? checkTokenRows(vault, from.after) : checkClaims(vault, from.after));
  if (checked.next !== null) return { ...checked, next: { of: from.of, after: checked.next } };
  return { ...checked, next: from.of === 'token' ? { of: 'claim', after: '' } : null };
}
