import type { FoundRow } from '../../audit/check-rows.js';
import { grouped } from '../../domain/text.js';
import { ForgedRow } from '../../vault/forged-row.js';
import { type ShowProgress, showProgress } from '../bulk/progress.js';
import type { Answers } from '../operations.js';
import type { RunOperation } from '../run-command.js';

const namedMax = 10;

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

/** Describes the first few problems and states how many more there are. */
export function forgedText(problems: readonly FoundRow[]): string {
  const named = problems.slice(0, namedMax).map(({ row, what }) => new ForgedRow(row, what).message);
  const more = problems.length > namedMax ? [`and ${grouped(problems.length - namedMax)} more`] : [];
  return [...named, ...more].join('; ');
}
