import { counted } from '../../domain/text.js';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { showProgress } from '../files/progress.js';
import { printLine } from '../print.js';
import type { RunOperation } from '../run-command.js';
import { table } from '../table.js';
import type { ReplayAnswer } from './audit-token-operations.js';

export type QueryReplay = {
  readonly key: string;
  readonly asOf: string;
  readonly query: string;
  readonly reveal: boolean;
  readonly json: boolean;
};

/**
 * The column widths for a UUID and for the longest type name. The widths are fixed, because each row is printed as soon
 * as its token is found.
 */
const widths = [36, Math.max(...tokenTypes.map((type) => type.length))];

/** Prints each token that the query would have found at the given time, oldest first. */
export async function replayByQuery(run: RunOperation, { json, ...ask }: QueryReplay): Promise<void> {
  let [found, erased, withheld, position] = [0, 0, 0, 0];
  let head: number | null = null;
  let isFirst = true;
  const progress = () => ({ items: found, done: position, total: head, phase: null, fields: { found, position } });
  const display = showProgress(progress, { json, noun: 'token' });
  try {
    for (let after: number | null = 0; after !== null; ) {
      const step: ReplayAnswer = await run('audit-replay-query', { ...ask, after, found });
      if (json) for (const token of step.tokens) printLine(JSON.stringify({ type: 'token', token }));
      else if (step.tokens.length > 0) {
        const rows = step.tokens.map(({ id, type, created_at: createdAt }) => [
          String(id),
          String(type),
          String(createdAt),
        ]);
        for (const line of table(['id', 'type', 'created'], rows, widths).slice(isFirst ? 0 : 1)) printLine(line);
        isFirst = false;
      }
      found += step.tokens.length;
      erased += step.erased;
      withheld += step.withheld;
      head = step.head;
      after = step.next;
      position = after ?? step.head;
    }
  } finally {
    display.end();
  }
  const left =
    erased === 0
      ? ''
      : `; ${counted(erased, 'token')} from that time ${erased === 1 ? 'has' : 'have'} been erased, so the query ` +
        `could not check ${erased === 1 ? 'it' : 'them'}`;
  const hidden =
    withheld === 0
      ? ''
      : `; ${counted(withheld, 'token')} from that time ${withheld === 1 ? 'has' : 'have'} changed since, and the ` +
        `application may not see ${withheld === 1 ? 'it' : 'them'} in plaintext, so the query did not check ` +
        `${withheld === 1 ? 'it' : 'them'}`;
  const text = `${counted(found, 'token')} found${left}${hidden}`;
  process.stdout.write(`${json ? JSON.stringify({ type: 'summary', found, erased, withheld }) : text}\n`);
}
