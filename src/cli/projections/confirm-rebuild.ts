import { createInterface } from 'node:readline/promises';
import type { ProjectionName } from '../../ports/projections.js';
import { Failure } from '../failure.js';
import type { RunOperation } from '../run-verb.js';
import { descriptions } from './descriptions.js';

type Plan = { readonly name: ProjectionName; readonly events?: number; readonly rows?: number };
type Asking = { readonly dryRun: boolean; readonly yes: boolean; readonly json: boolean };

/** Says what would be done, and asks on a terminal. False: nothing is to be done. Throws Failure. */
export async function confirmRebuild(
  run: RunOperation,
  names: readonly ProjectionName[],
  { dryRun, yes, json }: Asking,
): Promise<boolean> {
  if (yes && !dryRun) return true;
  const { plans } = await run('projections-plan', { names });
  if (dryRun) {
    process.stdout.write(json ? `${JSON.stringify({ plans })}\n` : `${plans.map(planText).join('\n')}\n`);
    return false;
  }
  if (process.stdin.isTTY !== true)
    throw new Failure('say --yes to go ahead, or --dry-run to see what it would do.', 2);
  process.stderr.write(`${plans.map(planText).join('\n')}\n`);
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question('Go ahead? [y/N] ');
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}

function planText({ name, events = 0, rows = 0 }: Plan): string {
  const log = `reads the log up to position ${events.toLocaleString('en-US')}`;
  switch (name) {
    case 'tokens':
      return `${name}: ${log}, makes ${rows.toLocaleString('en-US')} rows beside those that are read, compares both, and reads the new ones`;
    case 'directory':
      return `${name}: ${log} and replaces ${descriptions.directory}`;
    case 'shredder':
      return `${name}: ${log} and destroys the keys once more that events have ended`;
    case 'vocabulary':
      return `${name}: forgets the words, which are collected anew when somebody asks for them`;
  }
}
