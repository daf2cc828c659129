import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { isJsonObject, type Json } from '../../domain/json.js';
import { counted } from '../../domain/text.js';
import { earliestForCodes, earliestNow } from '../../ports/clock.js';
import { type ProjectionName, type ProjectionStatus, projectionNames } from '../../ports/projections.js';
import { waitText } from '../../ports/store-unavailable.js';
import { gapNote, gapText, lastRebuildText } from '../../queries/findings/projection-text.js';
import type { ConsolePage, Flash, Visit } from '../page.js';
import { recordOperation } from '../record-acts.js';

/** The maximum number of overdue expiries and purges counted by the page. */
const overdueMax = 1_000;
/** The word that an operator must type to confirm a rotation. */
const rotationWord = 'rotate';

const projectionForm = z.object({ name: z.enum(projectionNames), accept_new: z.literal('on').optional() });
const rotationForm = z.object({
  confirm: z.literal(rotationWord, { error: `Type the word ${rotationWord} to confirm.` }),
});

/** Shows and starts projection rebuilds and key rotations. */
export const operationsPage: ConsolePage = {
  menu: { label: 'Projections and keys', group: 'Operations' },
  routes: [
    { method: 'GET', path: '/operations', session: 'operator', handle: (visit) => show(visit) },
    {
      method: 'POST',
      path: '/operations/rebuild',
      session: 'operator',
      async handle(visit) {
        const asked = visit.form(projectionForm);
        if (!asked.ok) return show(visit, { status: 400 });
        const { name, accept_new: acceptNew } = asked.value;
        const started = await visit.service.projections.rebuild(name, acceptNew !== undefined);
        if (started !== 'busy') {
          const message = `rebuild of the projection ${name} ${started === 'resumed' ? 'resumed' : 'started'}`;
          await recordOperation(visit, { operation: 'update', message });
        }
        return visit.redirect('/operations', startTexts[started](name));
      },
    },
    {
      method: 'POST',
      path: '/operations/cancel',
      session: 'operator',
      async handle(visit) {
        const asked = visit.form(projectionForm);
        if (!asked.ok) return show(visit, { status: 400 });
        const { name } = asked.value;
        const cancelled = await visit.service.projections.cancel(name);
        if (cancelled === 'cancelled') {
          await recordOperation(visit, {
            operation: 'update',
            message: `rebuild of the projection ${name} canceled`,
          });
        }
        return visit.redirect('/operations', cancelTexts[cancelled](name));
      },
    },
    {
      method: 'POST',
      path: '/operations/rotate',
      session: 'operator',
      async handle(visit) {
        const asked = visit.form(rotationForm);
        if (!asked.ok) return show(visit, { status: 400, rotationError: asked.errors['confirm']?.[0] ?? null });
        const outcome = await visit.operations.run('keys-rotate', {});
        if (!outcome.ok) return show(visit, { status: 409, flash: { tone: 'bad', text: outcome.message } });
        await recordOperation(visit, { operation: 'rotation', message: 'rotation of all keys started' });
        return visit.redirect('/operations', { tone: 'good', text: 'The rotation of all keys has started.' });
      },
    },
  ],
};

const startTexts: Readonly<Record<'done' | 'started' | 'resumed' | 'busy', (name: ProjectionName) => Flash>> = {
  done: (name) => ({ tone: 'good', text: `The projection ${name} is rebuilt.` }),
  started: (name) => ({ tone: 'good', text: `The rebuild of ${name} has started.` }),
  resumed: (name) => ({ tone: 'good', text: `The interrupted rebuild of ${name} has resumed.` }),
  busy: (name) => ({ tone: 'bad', text: `A rebuild of ${name} is already running.` }),
};

const cancelTexts: Readonly<Record<'cancelled' | 'too_late' | 'none', (name: ProjectionName) => Flash>> = {
  cancelled: (name) => ({ tone: 'good', text: `The rebuild of ${name} is canceled, and its new rows are removed.` }),
  too_late: (name) => ({ tone: 'bad', text: `The rebuild of ${name} has finished, and its rows are already in use.` }),
  none: (name) => ({ tone: 'bad', text: `No rebuild of ${name} is running.` }),
};

type Shown = { readonly status?: number; readonly flash?: Flash; readonly rotationError?: string | null };

async function show(visit: Visit, { status = 200, flash, rotationError = null }: Shown = {}): Promise<FastifyReply> {
  const { service, vault, operations } = visit;
  const [statuses, rotated, { backupMadeAt }, due, nextDueAt] = await Promise.all([
    service.projections.status(),
    operations.run('keys-rotation', {}),
    service.state(),
    vault.rows.due(earliestNow(vault.clock), overdueMax, earliestForCodes(vault.clock)),
    vault.rows.nextDueAt(),
  ]);
  const rotation = rotationOf(rotated);
  // Once the new rows are in use, the rebuild does not count as running. It is only waiting to remove the old rows.
  const isRebuilding = statuses.some(({ rebuild }) => rebuild !== null && rebuild.phase !== 'keeping');
  const isRunning = rotation.state === 'running' || isRebuilding;
  const projections = await Promise.all(
    statuses.map(async (one) => ({
      ...rowOf(one),
      // Making a plan requires counting all rows, which is too slow for a page that reloads every two seconds. The page
      // therefore omits the plan while something is running.
      plan: isRunning ? null : await service.projections.plan(one.name),
    })),
  );
  const model = {
    projections,
    rotation,
    rotationError,
    rotationWord,
    isRunning,
    backupMadeAt,
    backupAgeHours: backupMadeAt === null ? null : Math.floor((vault.clock.now() - backupMadeAt) / 3_600_000),
    kept: keptText(service.projections.keptSeconds),
    overdue: due.length,
    overdueMax,
    nextDueAt,
  };
  const options = { title: 'Projections and keys', status, isRunning };
  return visit.page('operations', model, flash === undefined ? options : { ...options, flash });
}

/** Describes how long the old rows are kept after a rebuild. Returns null if they are removed immediately. */
function keptText(seconds: number): string | null {
  if (seconds === 0) return null;
  return seconds < 60 ? counted(Math.ceil(seconds), 'second') : counted(Math.ceil(seconds / 60), 'minute');
}

const phases = {
  building: 'Reading the log',
  comparing: 'Comparing the new rows with those in use',
  keeping: 'The new rows are in use',
  dropping: 'Removing the rows that are not in use',
} as const;

/** Returns the fields that the page shows for a projection. */
function rowOf({ name, version, generation, gap, state, rebuild, lastRebuild }: ProjectionStatus) {
  return {
    name,
    version,
    generation,
    state,
    isGood: state === 'current' || state === 'in memory' || (name === 'shredder' && gap !== null),
    gap: state === 'in memory' ? 'in memory' : gapText(name, gap),
    note: gapNote(name, gap),
    rebuild:
      rebuild === null
        ? null
        : {
            phase: phases[rebuild.phase],
            percent: rebuild.head === 0 ? 100 : Math.min(100, Math.floor((rebuild.position / rebuild.head) * 100)),
            eventsPerSecond: Math.round(rebuild.eventsPerSecond),
            left: rebuild.left,
            isReading: rebuild.phase === 'building' || rebuild.phase === 'comparing',
            isDone: rebuild.phase === 'keeping',
            waits: rebuild.waitsFor === null ? null : waitText(rebuild.waitsFor),
          },
    lastRebuild: lastRebuild === null || lastRebuild.outcome === 'done' ? null : lastRebuildText(lastRebuild),
  };
}

type Rotation = {
  readonly state: string;
  readonly done: number;
  readonly total: number;
  readonly problem: string | null;
};

/** Parses the state of a rotation from the JSON result of the operation. */
function rotationOf(outcome: Awaited<ReturnType<Visit['operations']['run']>>): Rotation {
  if (!outcome.ok) return { state: 'failed', done: 0, total: 0, problem: outcome.message };
  const fields = isJsonObject(outcome.value) ? outcome.value : {};
  const number = (field: Json | undefined): number => (typeof field === 'number' ? field : 0);
  return {
    state: String(fields['state']),
    done: number(fields['done']),
    total: number(fields['total']),
    problem: null,
  };
}
