import type { FoundRow } from '../../audit/check-rows.js';
import { type ShowProgress, showProgress } from '../files/progress.js';
import type { Answers } from '../operations.js';
import type { RunOperation } from '../run-command.js';

type Step = Answers['rows-check'];

export type RowsChecked = Omit<Step, 'next'>;

/** Checks all directory rows, token rows and claims in steps, and shows progress. */
export async function checkAllRows(
  run: RunOperation,
  { json, show = showProgress }: { readonly json: boolean; readonly show?: ShowProgress },
): Promise<RowsChecked> {
  let [rows, live] = [0, 0];
  const problems: FoundRow[] = [];
  const progress = () => ({ items: rows, done: rows, total: null, phase: null, fields: { rows } });
  const display = show(progress, { json, noun: 'row' });
  try {
    for (let from: Step['next'] = null; ; ) {
      const step: Step = await run('rows-check', { from });
      rows += step.rows;
      live += step.live;
      problems.push(...step.problems);
      from = step.next;
      if (from === null) return { rows, live, problems };
    }
  } finally {
    display.end();
  }
}
