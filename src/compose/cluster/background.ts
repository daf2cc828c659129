import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Checkpointer } from '../../audit/checkpointer.js';
import type { WebhookDeliveries } from '../../jobs/deliver-webhooks.js';
import { repeated } from '../../jobs/repeated.js';
import type { Sweep } from '../../jobs/sweep.js';
import type { Lead } from '../../ports/checkpoints.js';
import type { DailyCounting } from '../../projections/daily-counts.js';
import { catchUp, type RunnerDeps } from '../../projections/projection-runner.js';
import { shredEndedKeys } from '../../projections/shredder.js';

/** The duration of the leader's lease. If the leader dies, another worker can take over when the lease expires. */
const leaseMs = 10_000;
const renewMs = 2_500;
const pauseMs = 100;
const retryMs = 1_000;
const retryMsMax = 10_000;

type Deps = RunnerDeps & {
  /** Creates the sweep for one term as leader. */
  readonly sweep: () => Sweep;
  /** Creates the checkpointer for one term as leader. */
  readonly checkpointer: () => Checkpointer;
  /** Creates the webhook deliveries for one term as leader. */
  readonly webhooks: () => WebhookDeliveries;
  /** Creates the daily counting for one term as leader. */
  readonly dailyCounting: () => DailyCounting;
  /**
   * Returns true if this process may lead. A process whose clock is wrong must not lead, because the leader makes
   * irreversible changes.
   */
  readonly mayLead: () => boolean;
  /** Work that the leader repeats every ten seconds, such as ending the batches that other processes abandoned. */
  readonly cleanup: readonly (() => Promise<unknown>)[];
  readonly onError: (error: unknown) => void;
};

export type Background = { start(): void; stop(): Promise<void> };

/**
 * Creates the background work. Of all processes that take part, only the current leader runs this work. The leader
 * updates the rows up to the head of the log, destroys ended keys, and records expiries and purges that are due.
 *
 * Two leaders may run for a short time while the lease moves from one process to the other. This is safe, because the
 * correctness of row and key writes does not depend on the lease.
 */
export function createBackground(needs: Deps): Background {
  const { vault, checkpoints, sweep: createSweep, checkpointer: createCheckpointer, mayLead, cleanup, onError } = needs;
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

  async function follow(): Promise<void> {
    if (lead === null || (await catchUp(needs, lead)) === 0) return;
    await shredEndedKeys(vault.log, vault.keys, await checkpoints.position('tokens'));
  }

  /**
   * Runs one term as leader. The term lasts until this process loses the lease or stops. A failure does not end it: the
   * next attempt starts again with the page that failed, so no event is skipped. Threat: an attacker destroys one key
   * in the key store, so a page of the log always fails. Each end of a term signs a checkpoint, which stays in the log
   * forever.
   */
  async function term(): Promise<void> {
    const sweep = createSweep();
    const checkpointer = createCheckpointer();
    const webhooks = needs.webhooks();
    const dailyCounting = needs.dailyCounting();
    sweep.start();
    checkpointer.start();
    webhooks.start();
    dailyCounting.start();
    try {
      const every = (intervalMs: number, work: () => Promise<unknown>) =>
        repeated({ now: () => performance.now(), intervalMs, retryMs, retryMsMax }, work);
      const steps = [every(0, follow), ...cleanup.map((work) => every(leaseMs, work))];
      while (lead !== null && !stopped) {
        for (const step of steps) await step().catch(onError);
        await wait(pauseMs);
      }
    } finally {
      await sweep.stop();
      await checkpointer.stop();
      await webhooks.stop();
      await dailyCounting.stop();
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
