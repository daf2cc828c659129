import { z } from 'zod';
import { type ProjectionName, projectionNames } from '../../ports/projections.js';
import { OperationFailed, operation } from '../operations/operation.js';

const name = z.enum(projectionNames);

/** Returns the status of all projections. */
export const projectionsStatus = operation(z.object({}), async ({ projections }) => ({
  projections: (await projections.status()).map((status) => ({
    ...status,
    rebuild: status.rebuild === null ? null : { ...status.rebuild },
    lastRebuild:
      status.lastRebuild === null ? null : { ...status.lastRebuild, examples: [...status.lastRebuild.examples] },
  })),
}));

/** Returns what the rebuild of each projection would read and write (`Projections.plan`). */
export const projectionsPlan = operation(z.object({ names: z.array(name) }), async ({ projections }, { names }) => ({
  plans: await Promise.all(names.map(async (each) => ({ name: each, ...(await projections.plan(each)) }))),
}));

/**
 * Starts rebuilding a projection. If `started` is `done`, the rebuild is already complete. `keptSeconds` is how long
 * the vault retains the old rows, in seconds.
 */
export const projectionsRebuild = operation(
  z.object({ name, acceptNew: z.boolean() }),
  async ({ projections }, { name: each, acceptNew }) => {
    const started = await projections.rebuild(each, acceptNew);
    if (started === 'busy') {
      throw new OperationFailed(
        `a rebuild of ${each} is already running, or keeps the old rows for running reads. To see its progress: ` +
          'strongroom projections status',
      );
    }
    return { started, keptSeconds: projections.keptSeconds };
  },
);

const refusals: Readonly<Record<'none' | 'too_late', (name: ProjectionName) => string>> = {
  none: (each) => `no rebuild of ${each} is running, so there is nothing to cancel.`,
  too_late: (each) => `the rebuild of ${each} has ended, and its rows are already in use.`,
};

/** Cancels a rebuild. */
export const projectionsCancel = operation(z.object({ name }), async ({ projections }, { name: each }) => {
  const cancelled = await projections.cancel(each);
  if (cancelled !== 'cancelled') throw new OperationFailed(refusals[cancelled](each));
  return { cancelled: each };
});
