import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Checkpointer } from '../../audit/checkpointer.js';
import type { Sweep } from '../../jobs/sweep.js';
import type { Lead } from '../../ports/checkpoints.js';
import { catchUp, type RunnerNeeds } from '../../projections/projection-runner.js';
import { shredEndedKeys } from '../../projections/shredder.js';

/** A leader that was killed is replaced when its lease ends. */
const leaseMs = 10_000;
const renewMs = 2_500;
const pauseMs = 100;
const retryMs = 1_000;

type Needs = RunnerNeeds & {
  /** Makes the sweep of one term as the leader. */
  readonly sweep: () => Sweep;
  /** Makes what signs checkpoints in one term as the leader. */
  readonly checkpointer: () => Checkpointer;
  /** False: this process may do nothing that cannot be undone (its clock is off). */
  readonly mayLead: () => boolean;
  /** Ends what others left half-done. */
  readonly clear: () => Promise<unknown>;
  readonly onError: (error: unknown) => void;
};

export type Background = { start(): void; stop(): Promise<void> };

/**
 * The work that no request asks for, done by one process of all that run it: rows follow the log, ended keys are destroyed,
 * what is due is recorded. A second leader, while a lease passes on, harms nothing: rows and keys are guarded themselves.
 */
export function createBackground(needs: Needs): Background {
  const { vault, checkpoints, sweep: createSweep, checkpointer: createCheckpointer, mayLead, clear, onError } = needs;
  const holder = randomUUID();
  let stopped = true;
  let lead: Lead | null = null;
  let running: Promise<void> = Promise.resolve();

  async function renew(): Promise<void> {
    try {
      lead = mayLead() ? await checkpoints.lead('tokens', holder, leaseMs) : null;
    } catch (error) {
      lead = null;
      onError(error);
    }
  }

  /** One term as the leader: until the lead is lost or the process stops. */
  async function term(): Promise<void> {
    const sweep = createSweep();
    const checkpointer = createCheckpointer();
    sweep.start();
    checkpointer.start();
    try {
      for (let clearedAt = Number.NEGATIVE_INFINITY; lead !== null && !stopped; ) {
        const seen = await catchUp(needs, lead);
        if (seen > 0) await shredEndedKeys(vault.log, vault.keys, await checkpoints.position('tokens'));
        if (performance.now() - clearedAt > leaseMs) {
          await clear();
          clearedAt = performance.now();
        }
        if (seen === 0) await wait(pauseMs);
      }
    } finally {
      await sweep.stop();
      await checkpointer.stop();
    }
  }

  async function run(): Promise<void> {
    const timer = setInterval(renew, renewMs);
    while (!stopped) {
      await renew();
      try {
        if (lead === null) await wait(retryMs);
        else await term();
      } catch (error) {
        // The page at which it stopped is begun again; nothing is skipped.
        onError(error);
        await wait(retryMs);
      }
    }
    clearInterval(timer);
    if (lead !== null) await checkpoints.resign(lead).catch(onError);
    lead = null;
  }

  return {
    start(): void {
      stopped = false;
      running = run();
    },
    async stop(): Promise<void> {
      stopped = true;
      await running;
    },
  };
}
