import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { MongoConnection } from '../connection.js';
import { generationsCollection, loadGenerations, theGenerations } from './generations-document.js';

/** Who was killed is replaced after this time. */
const leaseMs = 10_000;
const renewMs = 2_500;
const pollMs = 500;

/** What a holder's place in the document is set to, by the clock of MongoDB. */
export const leaseUntil = { $add: ['$$NOW', leaseMs] };

/**
 * Who works at a rebuild: one process at a time, under an id that is new each time, and every change of the rebuild's
 * state filters on it. So a process that was stopped, and comes back when another one has gone on, changes nothing.
 */
export function createRebuildHold(connection: MongoConnection) {
  const { call } = connection;
  let held: string | null = null;
  let renewing: NodeJS.Timeout | null = null;

  /** Meets the document while nobody else has it. */
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
    // One that fails is told by the next change.
    renewing = setInterval(() => renew(holder).catch(() => undefined), renewMs);
    renewing.unref();
  }

  return {
    /** Notes that this process holds it, as was written with the beginning of a rebuild. */
    keep,
    /**
     * The id that it is held under; it is taken where it is free. Throws StoreUnavailable while another process has it.
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
    /** Whether another process holds it and lives: one that was killed says no more that it does, and is waited out. */
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
