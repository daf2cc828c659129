import { setTimeout as wait } from 'node:timers/promises';
import { counted } from '../../domain/text.js';
import type { ProjectionName, ProjectionStatus } from '../../ports/projections.js';
import { Failure } from '../failure.js';
import { showProgress } from '../files/progress.js';
import { untilSignal } from '../files/until-signal.js';
import type { RunOperation } from '../run-command.js';
import { rebuildText } from './status-text.js';

const pollMs = 250;

type Shown = { readonly acceptNew: boolean; readonly json: boolean };

/**
 * Rebuilds one projection and shows its progress. Throws Failure if the rebuild does not succeed. The exit code is 3 if
 * the new rows differ from the old rows or if a key is lost.
 */
export async function runRebuild(run: RunOperation, name: ProjectionName, { acceptNew, json }: Shown): Promise<void> {
  const begun = await run('projections-rebuild', { name, acceptNew });
  if (begun.started !== 'done') await follow(run, name, begun.keptSeconds, json);
  process.stdout.write(json ? `${JSON.stringify({ type: 'summary', rebuilt: name })}\n` : `rebuilt ${name}\n`);
}

/** Shows the progress until the new rows are in use. The vault may retain the old rows for some time after that. */
async function follow(run: RunOperation, name: ProjectionName, keptSeconds: number, json: boolean): Promise<void> {
  let status = await statusOf(run, name);
  const interrupt = untilSignal(() => undefined);
  const display = showProgress(() => progressOf(status), { json, noun: 'event' });
  try {
    for (;;) {
      status = await statusOf(run, name);
      if (status.rebuild === null || (keptSeconds > 0 && status.rebuild.phase === 'keeping')) break;
      if (interrupt.came()) {
        throw new Failure(
          'interrupted. If a service is running, it continues the rebuild. Otherwise, repeat the command to continue. ' +
            `To cancel the rebuild: strongroom projections cancel ${name}`,
        );
      }
      await wait(pollMs);
    }
  } finally {
    interrupt.end();
    display.end();
  }
  const { lastRebuild, rebuild } = status;
  if (rebuild === null && lastRebuild?.outcome !== 'done') throw failure(name, lastRebuild);
}

async function statusOf(run: RunOperation, name: ProjectionName): Promise<ProjectionStatus> {
  const { projections } = await run('projections-status', {});
  const status = projections.find((each) => each.name === name);
  if (status === undefined) throw new Failure(`the service does not know the projection ${name}.`);
  return status;
}

function progressOf({ rebuild }: ProjectionStatus) {
  const { events = 0, position = 0, head = 0, eventsPerSecond = 0 } = rebuild ?? {};
  const fields = { events, position, head, events_per_second: Math.round(eventsPerSecond) };
  const isReading = rebuild?.phase === 'building' && position < head && rebuild.waitsFor === null;
  const phase = rebuild === null || isReading ? null : rebuildText(rebuild);
  return { items: events, done: position, total: head === 0 ? null : head, phase, fields };
}

function failure(name: ProjectionName, last: ProjectionStatus['lastRebuild']): Failure {
  const listed = (last?.examples ?? []).map((stream) => `\n  ${stream}`).join('');
  switch (last?.outcome) {
    case 'different':
      return new Failure(
        `${counted(last.different, 'row differs', 'rows differ')} between the log and the rows in use; nothing ` +
          `was changed. The first of them:${listed}\n` +
          'If the log is right, use the new rows with --accept-new.',
        3,
      );
    case 'key_lost':
      return new Failure(
        `a token in the log cannot be read because its key is lost; nothing was changed:${listed}\n` +
          'Run `strongroom doctor`, which says how to restore the key.',
        3,
      );
    case 'failed':
      return new Failure(`the rebuild of ${name} failed; nothing was changed. See the log of the service.`);
    default:
      return new Failure(`the rebuild of ${name} was canceled; nothing was changed.`);
  }
}
