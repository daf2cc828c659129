import { showProgress } from '../bulk/progress.js';
import type { ReplayAnswer } from '../operations/audit-replay.js';
import { printLine } from '../print.js';
import type { RunOperation } from '../run-verb.js';

export type QueryReplay = {
  readonly key: string;
  readonly asOf: string;
  readonly query: string;
  readonly reveal: boolean;
  readonly json: boolean;
};

/** Prints each token that a query would have found at a moment, the one that was created first at first. */
export async function replayByQuery(run: RunOperation, { json, ...ask }: QueryReplay): Promise<void> {
  let [found, erased, position] = [0, 0, 0];
  let head: number | null = null;
  const display = showProgress(() => ({ items: found, done: position, total: head, fields: { found, position } }), {
    json,
    noun: 'tokens',
  });
  try {
    for (let after: number | null = 0; after !== null; ) {
      const step: ReplayAnswer = await run('audit-replay-query', { ...ask, after });
      for (const token of step.tokens) {
        const { id, type, created_at: createdAt } = token;
        printLine(json ? JSON.stringify({ type: 'token', token }) : `${id}  ${type}  ${createdAt}`);
      }
      found += step.tokens.length;
      erased += step.erased;
      head = step.head;
      after = step.next;
      position = after ?? step.head;
    }
  } finally {
    display.end();
  }
  const left = erased === 0 ? '' : `; ${erased} tokens of then are erased, and nobody can say whether it found them`;
  process.stdout.write(`${json ? JSON.stringify({ type: 'summary', found, erased }) : `${found} found${left}`}\n`);
}
