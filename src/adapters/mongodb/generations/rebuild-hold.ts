import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { rebuiltElsewhere, StoreUnavailable } from '../../../ports/store-unavailable.js';
import { leaseHasExpired } from '../age.js';
import type { MongoConnection } from '../connection.js';
import { generationsCollection, loadGenerations, theGenerations } from './generations-document.js';

/**
 * The length of a lease, in ms. If the process that holds the lease dies, another process can acquire the lease after
 * this time.
 */
const leaseMs = 10_000;
const renewMs = 2_500;
const pollMs = 500;

/** A MongoDB expression for the time when a renewed lease expires, according to MongoDB's clock. */
export const leaseUntil = { $add: ['$$NOW', leaseMs] };

/**
 * Creates the functions that manage the rebuild lease. Only one process at a time can hold the lease, and each holder
 * has a new id. Every change to the rebuild's state filters by this id. If a process is suspended and another process
 * acquires the lease, the suspended process can make no further changes.
 */
export function createRebuildHold(connection: MongoConnection) {
  const { call } = connection;
  let held: string | null = null;
  let renewing: NodeJS.Timeout | null = null;

  /** Returns a filter that matches the document in `generations` only if no other process holds the lease. */
  const isFree = () => ({
    ...theGenerations,
    $expr: { $or: [{ $in: ['$holder', [null, held]] }, leaseHasExpired('$until', leaseMs)] },
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
    // Ignores a failed renewal. If the lease is lost, the next change to the rebuild's state fails.
    renewing = setInterval(() => renew(holder).catch(() => undefined), renewMs);
    renewing.unref();
  }

  return {
    /**
     * Records that this process holds the lease, and renews it from now on. The lease itself was stored when the
     * rebuild began.
     */
    keep,
    /**
     * Returns the id under which this process holds the lease. Acquires the lease if it is free. Throws
     * StoreUnavailable if another process holds it.
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
     * Returns true if another live process holds the lease. A live process renews its lease. If the lease is not
     * renewed, waits until it expires and then returns false.
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
  return new StoreUnavailable('mongodb', rebuiltElsewhere);
}
