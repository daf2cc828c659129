import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { counted } from '../../domain/text.js';
import type { ProjectionName } from '../../ports/projections.js';
import { Failure } from '../failure.js';
import type { RunOperation } from '../run-command.js';
import { descriptions } from './descriptions.js';

type Plan = { readonly name: ProjectionName; readonly head?: number; readonly rows?: number | null };
type Asking = { readonly dryRun: boolean; readonly yes: boolean; readonly json: boolean };

/**
 * Prints the plan and asks for confirmation on the terminal. Returns true if the rebuild should start. Throws Failure
 * if confirmation is required but standard input is not a terminal.
 */
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
  if (process.stdin.isTTY !== true) throw new Failure('add --yes to start, or --dry-run to see what it would do.', 2);
  process.stderr.write(`${plans.map(planText).join('\n')}\n`);
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and the end of the input close the interface, and mean no.
  const closed = once(asking, 'close').then(() => '');
  const answer = await Promise.race([asking.question('Go ahead? [y/N] ').catch(() => ''), closed]);
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}

function planText({ name, head = 0, rows = null }: Plan): string {
  const log = `reads the log up to position ${head}`;
  switch (name) {
    case 'tokens':
      return (
        `${name}: ${log}, writes ${counted(rows ?? 0, 'row')} beside those in use, compares the two, and switches ` +
        'to the new ones'
      );
    case 'directory':
      return `${name}: ${log} and replaces ${descriptions.directory}`;
    case 'shredder':
      return `${name}: ${log} and again destroys all keys that events mark for destruction`;
    case 'days':
      return `${name}: ${log} and all of the access log, and counts both again`;
    case 'vocabulary':
      return `${name}: removes the words from memory; the next suggestion collects them again`;
  }
}
