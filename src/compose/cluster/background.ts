import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { withinLimit } from '../../adapters/shared/within-limit.js';
import { repeated } from '../../jobs/repeated.js';
import type { Lead } from '../../ports/checkpoints.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { catchUp, type RunnerDeps } from '../../projections/projection-runner.js';
import { shredEndedKeys } from '../../projections/shredder.js';

/** The duration of the leader's lease. If the leader dies, another worker can take over when the lease expires. */
export const leaseMs = 10_000;
const renewMs = 2_500;
const pauseMs = 100;
const retryMs = 1_000;
const retryMsMax = 10_000;
/** An attempt to deliver to a webhook takes up to ten seconds. */
const usualStopMsMax = 15_000;

type Deps = RunnerDeps & {
  /** The work that runs during each term as leader. Each function creates it for one term. */
  readonly jobs: readonly (() => Job)[];
  /**
   * Returns true if this process may lead. A process whose clock is wrong must not lead, because the leader makes
   * irreversible changes. A process that lacks the root key could do almost none of the work.
   */
  readonly mayLead: () => Promise<boolean>;
  /** Work that the leader repeats every ten seconds, such as ending the batches that other processes abandoned. */
  readonly cleanup: readonly (() => Promise<unknown>)[];
  readonly onError: (error: unknown) => void;
  /** How long the leader waits for each job to stop, in ms. The default is 15 seconds. */
  readonly stopMsMax?: number;
};

type Job = { start(): void; stop(): Promise<void> };

export type Background = Job & {
  /**
   * Returns the last error of the runner, or null if its last attempt succeeded or no attempt was made. An unavailable
   * store is no such error.
   */
  runnerError(): unknown;
};

/**
 * Creates the background work. Of all processes that take part, only the current leader runs this work. The leader
 * updates the rows up to the head of the log, destroys ended keys, and records expiries and purges that are due.
 *
 * Two leaders may run for a short time while the lease moves from one process to the other. This is safe, because the
 * correctness of row and key writes does not depend on the lease.
 */
export function createBackground(needs: Deps): Background {
  const { vault, checkpoints, mayLead, cleanup, onError, stopMsMax = usualStopMsMax } = needs;
  const holder = randomUUID();
  let stopped = true;
  let lead: Lead | null = null;
  let running: Promise<void> = Promise.resolve();
  let renewing: Promise<void> | null = null;
  let runnerError: unknown = null;
  const goesOn = (): boolean => lead !== null && !stopped;

  /** Renews the lease. If a renewal is already running, waits for it. */
  function renew(): Promise<void> {
    renewing ??= acquire().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  async function acquire(): Promise<void> {
    try {
      lead = (await mayLead()) ? await checkpoints.lead('tokens', holder, leaseMs) : null;
    } catch (error) {
      lead = null;
      onError(error);
    }
  }

  async function follow(): Promise<void> {
    if (lead === null || (await runnerCaughtUp(lead)) === 0) return;
    await shredEndedKeys(vault.log, vault.keys, await checkpoints.position('tokens'), goesOn);
  }

  async function runnerCaughtUp(lead: Lead): Promise<number> {
    try {
      const seen = await catchUp(needs, lead, goesOn);
      runnerError = null;
      return seen;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) runnerError = error;
      throw error;
    }
  }

  /**
   * Runs one term as leader. The term lasts until this process loses the lease or stops. A failure does not end it: the
   * next attempt starts again with the page that failed, so no event is skipped. Threat: an attacker destroys one key
   * in the key store, so a page of the log always fails. Each end of a term signs a checkpoint, which stays in the log
   * forever.
   *
   * While the jobs stop, this process does not renew the lease, so that another process can take it. Otherwise, a
   * job that does not stop would leave a leader that does no work.
   */
  async function term(): Promise<void> {
    const timer = setInterval(renew, renewMs);
    const jobs = needs.jobs.map((create) => create());
    for (const job of jobs) job.start();
    try {
      const every = (intervalMs: number, work: () => Promise<unknown>) =>
        repeated({ now: () => performance.now(), intervalMs, retryMs, retryMsMax }, work);
      const steps = [every(0, follow), ...cleanup.map((work) => every(leaseMs, work))];
      while (goesOn()) {
        for (const step of steps) await step().catch(onError);
        await wait(pauseMs);
      }
    } finally {
      // The next leader reports its own errors.
      runnerError = null;
      clearInterval(timer);
      for (const job of jobs) await withinLimit('background work', stopMsMax, job.stop()).catch(onError);
    }
  }

  async function run(): Promise<void> {
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
    // A renewal that is still running would take the lease again after it has been given up.
    await renewing;
    if (lead !== null) await checkpoints.resign(lead).catch(onError);
    lead = null;
  }

  return {
    runnerError: () => runnerError,
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
