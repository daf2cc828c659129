import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { MongoConnection } from '../connection.js';
import { generationsCollection, loadGenerations, theGenerations } from './generations-document.js';

/** The length of a lease. After this time, another process replaces a dead holder. */
const leaseMs = 10_000;
const renewMs = 2_500;
const pollMs = 500;

/** When a renewed lease ends, by MongoDB's clock. */
export const leaseUntil = { $add: ['$$NOW', leaseMs] };

/**
 * Returns the lease on the rebuild. One process at a time holds it, under an id that is new each time, and every change
 * to the rebuild's state filters on that id. So a process that was suspended and resumes after another process took
 * over cannot change anything.
 */
export function createRebuildHold(connection: MongoConnection) {
  const { call } = connection;
  let held: string | null = null;
  let renewing: NodeJS.Timeout | null = null;

  /** Matches the document if no other process holds the lease. */
  const isFree = () => ({
    ...theGenerations,
    $expr: { $or: [{ $in: ['$holder', [null, held]] }, { $lt: ['$until', '$$NOW'] }] },
  });

  async function take(holder: string): Promise<boolean> {
    const taken = [{ $set: { holder, until: leaseUntil } }];
    return (await call((db) => generationsCollection(db).updateOne(isFree(), taken))).matchedCount === 1;
  }

  async function renew(holder: string): Promise<void> {
    const renewed = [{ $set: { until: leaseUntil } }];
    await call((db) => generationsCollection(db).updateOne({ ...theGenerations, holder }, renewed));
  }

  function keep(holder: string): void {
    held = holder;
    if (renewing !== null) clearInterval(renewing);
    // If a renewal fails, the next change reports it.
    renewing = setInterval(() => renew(holder).catch(() => undefined), renewMs);
    renewing.unref();
  }

  return {
    /** Records that this process holds the lease, which was stored when the rebuild began. */
    keep,
    /**
     * Returns the id under which this process holds the lease. Takes the lease if it is free. Throws StoreUnavailable
     * while another process holds it.
     */
    async id(): Promise<string> {
      if (held !== null) return held;
      const holder = randomUUID();
      if (!(await take(holder))) throw heldByAnother();
      keep(holder);
      return holder;
    },
    async release(): Promise<void> {
      const holder = held;
      if (renewing !== null) clearInterval(renewing);
      held = null;
      renewing = null;
      if (holder === null) return;
      await call((db) =>
        generationsCollection(db).updateOne({ ...theGenerations, holder }, { $set: { holder: null } }),
      );
    },
    /**
     * Returns whether another live process holds the lease. A dead holder stops renewing its lease; this method waits
     * for the lease to expire.
     */
    async isElsewhere(): Promise<boolean> {
      const first = await loadGenerations(connection);
      for (;;) {
        if ((await call((db) => generationsCollection(db).findOne(isFree()))) !== null) return false;
        const { holder, until } = await loadGenerations(connection);
        if (holder !== first.holder || until?.getTime() !== first.until?.getTime()) return true;
        await wait(pollMs);
      }
    },
  };
}

export function heldByAnother(): StoreUnavailable {
  return new StoreUnavailable('mongodb', 'rebuilt_by_another_process');
}
