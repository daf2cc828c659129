import { z } from 'zod';
import { checkDirectory, checkTokenRows } from '../../commands/check-rows.js';
import { operation } from './operation.js';

/**
 * One step of a check of all rows. `after`: where the step before ended; null: the first step, which looks at tenants and
 * applications.
 */
export const checkRows = operation(z.object({ after: z.string().nullable() }), async ({ vault }, { after }) => {
  const step = after === null ? { ...(await checkDirectory(vault)), next: '' } : await checkTokenRows(vault, after);
  return { ...step, problems: step.problems.map(({ row, what }) => ({ row: { ...row }, what })) };
});
