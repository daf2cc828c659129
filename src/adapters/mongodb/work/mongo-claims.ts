import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { ClaimBegin, Claims } from '../../../ports/claims.js';
import type { ClaimResult, FinishedClaim } from '../../../views/finished-claim.js';
import type { Stored } from '../../../views/row-mac.js';
import { isOlderThan } from '../age.js';
import { claimsCollection } from '../work-indexes.js';
import type { Batches } from './batches.js';
import { type Intent, settle } from './intent.js';
import type { WorkDeps } from './work-deps.js';
import { intentFacts, isAuthenticWork, workMac } from './work-mac.js';

/**
 * The work that a command is about to store. The work is one append, a batch of appends, or nothing if the command's
 * result needs no append.
 */
export type ClaimedWork =
  | { readonly of: 'append'; readonly intent: Intent }
  | { readonly of: 'batch'; readonly id: string }
  | { readonly of: 'nothing' };

/** A claim on an idempotency key. `_id` is the keyed hash of the key. */
type Claim = {
  readonly _id: string;
  readonly state: 'open' | 'done';
  /** The id of the attempt that owns the claim. */
  readonly attempt: string;
  /** The time when the owner acquired the claim, according to MongoDB's clock. */
  readonly openedAt: Date;
  readonly work?: ClaimedWork;
  /** The result of the command. It is stored together with `work`, but is valid only if the state is `done`. */
  readonly result?: ClaimResult;
  /** The time of the result in ms since the epoch, according to the clock of the process that owns the claim. */
  readonly time?: number;
  /** The MAC over the id, the result and the time. */
  readonly mac?: Buffer;
  /** The MAC over the id and the work. */
  readonly workMac?: Buffer;
};

const withoutResult = { $unset: { work: 1, result: 1, time: 1, mac: 1, workMac: 1 } } as const;

type Deps = WorkDeps & { readonly batches: Batches };

export type MongoClaims = ReturnType<typeof createMongoClaims>;

/**
 * Decides which command owns an idempotency key across many processes (docs/design.md, "Idempotency"). Before a command
 * appends, it records the intended append in its claim. A process that takes over the claim checks whether this append
 * was made. If it was not made, the process bars it.
 */
export function createMongoClaims({ connection, log, batches, waits, workKey, now, project }: Deps) {
  const claims = (db: Db): Collection<Claim> => db.collection<Claim>(claimsCollection);
  /** This process's pending attempts, keyed by claim id. */
  const mine = new Map<string, string>();
  /** The ids of the claims whose recorded work this process is still storing. */
  const storing = new Set<string>();

  /** Tries to acquire a claim. Returns the stored claim. Its `attempt` shows which attempt owns it. */
  async function take(cmd: string, attempt: string, notBefore: number): Promise<Claim> {
    const ended = { $and: [{ $eq: ['$state', 'done'] }, { $lt: ['$time', notBefore] }] };
    const abandoned = { $and: [{ $eq: ['$state', 'open'] }, isOlderThan('$openedAt', waits.claimMs)] };
    const fresh = { _id: cmd, state: 'open', attempt, openedAt: '$$NOW' };
    const taken = { $mergeObjects: ['$$ROOT', { attempt, openedAt: '$$NOW' }] };
    const missing = { $eq: [{ $type: '$state' }, 'missing'] };
    const pipeline = [
      { $replaceWith: { $cond: [{ $or: [missing, ended] }, fresh, { $cond: [abandoned, taken, '$$ROOT'] }] } },
    ];
    const claim = await connection.call((db) =>
      claims(db).findOneAndUpdate({ _id: cmd }, pipeline, { upsert: true, returnDocument: 'after' }),
    );
    if (claim === null) throw new Error('an upsert returned no document');
    return claim;
  }

  /** Returns true if the work in this claim was recorded by the vault. */
  function isAuthentic({ _id, work, workMac: mac }: Claim): Promise<boolean> {
    return isAuthenticWork(workKey, { in: 'claims', id: _id }, mac, () => workFacts(work));
  }

  /**
   * Returns the result of a finished claim. Threat: a process dies before it appends, and an attacker marks its claim
   * as done. The MAC of the result is valid in this case, because the result is recorded before the append. This
   * function therefore checks in the log whether the append was made. If it was not made, the function returns the
   * claim with an invalid MAC.
   */
  async function done(claim: Claim, finished: Stored<FinishedClaim>): Promise<ClaimBegin> {
    const { work } = claim;
    const isDone = work !== undefined && (await isAuthentic(claim)) && (await isLanded(work));
    return { state: 'done', claim: isDone ? finished : withInvalidMac(finished) };
  }

  /** Returns true if the work is in the log. If the work is a batch, settles it first. */
  async function isLanded(work: ClaimedWork): Promise<boolean> {
    if (work.of === 'nothing') return true;
    if (work.of === 'batch') return (await batches.settle(work.id)) === 'landed';
    const { stream, expectedRevision, eventIds } = work.intent;
    const [next] = await log.readClearFrom(stream, expectedRevision + 1, 1);
    return next !== undefined && eventIds.includes(next.id);
  }

  /** Settles the previous owner's work. Returns true if this work is in the log. */
  async function settleFormer(work: ClaimedWork): Promise<boolean> {
    if (work.of !== 'append') return isLanded(work);
    const outcome = await settle(log, work.intent, now());
    await project(work.intent.tenantId, work.intent.stream);
    return outcome === 'landed';
  }

  async function own(cmd: string, change: object): Promise<boolean> {
    const attempt = mine.get(cmd);
    if (attempt === undefined) return false;
    const { matchedCount } = await connection.call((db) =>
      claims(db).updateOne({ _id: cmd, attempt, state: 'open' }, change),
    );
    return matchedCount === 1;
  }

  /**
   * Continues with a claim that this process has just acquired. If the previous owner recorded its work, settles that
   * work, and returns its result if the work is in the log. If the recorded work is forged, settles nothing, and returns
   * the claim with an invalid MAC.
   */
  async function takeOver(claim: Claim): Promise<ClaimBegin> {
    const { _id: cmd, work } = claim;
    const finished = finishedOf(claim);
    if (work === undefined || finished === null) return { state: 'fresh' };
    if (!(await isAuthentic(claim))) {
      mine.delete(cmd);
      return { state: 'done', claim: withInvalidMac(finished) };
    }
    if (!(await settleFormer(work))) {
      await own(cmd, withoutResult);
      return { state: 'fresh' };
    }
    await own(cmd, { $set: { state: 'done' } });
    mine.delete(cmd);
    return { state: 'done', claim: finished };
  }

  const port: Claims = {
    async begin(cmd, notBefore) {
      if (mine.has(cmd)) return { state: 'in_flight' };
      const attempt = randomUUID();
      mine.set(cmd, attempt);
      try {
        const claim = await take(cmd, attempt, notBefore);
        if (claim.attempt === attempt) return await takeOver(claim);
        mine.delete(cmd);
        const finished = finishedOf(claim);
        return claim.state === 'done' && finished !== null ? await done(claim, finished) : { state: 'in_flight' };
      } catch (error) {
        await letGo(cmd).catch(() => undefined);
        throw error;
      }
    },
    release: letGo,
    async forget(notBefore) {
      const left = { state: 'open', time: { $exists: false }, openedAt: { $lt: new Date(notBefore) } } as const;
      const known = { state: { $in: ['open', 'done'] as Claim['state'][] }, time: { $lt: notBefore } };
      await connection.call((db) => claims(db).deleteMany({ $or: [known, left] }));
    },
    async page(afterCmd, limit) {
      const filter = { _id: { $gt: afterCmd }, result: { $exists: true } };
      const found = await connection.call((db) => claims(db).find(filter).sort({ _id: 1 }).limit(limit).toArray());
      return found.flatMap((claim) => finishedOf(claim) ?? []);
    },
  };

  /**
   * Releases a claim that this process owns. Deletes the claim if it contains no recorded work. Otherwise, the work may
   * be in the log, so the claim is not deleted but marked as abandoned. The next process that begins the command then
   * settles the work immediately.
   */
  async function letGo(cmd: string): Promise<void> {
    const attempt = mine.get(cmd);
    if (attempt === undefined) return;
    mine.delete(cmd);
    storing.delete(cmd);
    await connection.call(async (db) => {
      await claims(db).deleteOne({ _id: cmd, attempt, state: 'open', work: { $exists: false } });
      await claims(db).updateOne({ _id: cmd, attempt, state: 'open' }, { $set: { openedAt: new Date(0) } });
    });
  }

  return {
    port,
    /** Records in the claim which work is about to be stored. Returns false if another command owns the claim. */
    async intend({ cmd, result, time, mac }: Stored<FinishedClaim>, work: ClaimedWork): Promise<boolean> {
      if (storing.has(cmd)) return false;
      storing.add(cmd);
      const isMine = mine.has(cmd) || (await port.begin(cmd, 0)).state === 'fresh';
      const proof = await workMac(workKey, { in: 'claims', id: cmd }, workFacts(work));
      const recorded = { work, result, time, mac: Buffer.from(mac), workMac: proof };
      if (isMine && (await own(cmd, { $set: recorded }))) return true;
      storing.delete(cmd);
      return false;
    },
    /** Removes the recorded work from the claim. Call this only if it is certain that the work was not stored. */
    async withdraw(cmd: string): Promise<void> {
      storing.delete(cmd);
      await own(cmd, withoutResult);
    },
    async finish(cmd: string): Promise<void> {
      await own(cmd, { $set: { state: 'done' } });
      storing.delete(cmd);
      mine.delete(cmd);
    },
  };
}

function workFacts(work: ClaimedWork | undefined): readonly unknown[] {
  if (work?.of === 'append') return ['append', intentFacts(work.intent)];
  return work?.of === 'batch' ? ['batch', work.id] : [work?.of];
}

/**
 * Returns the finished claim, or null if the claim has no result. If the time or the MAC is missing, a substitute value
 * makes the MAC check fail.
 */
function finishedOf({ _id: cmd, result, time, mac }: Claim): Stored<FinishedClaim> | null {
  return result === undefined ? null : { cmd, result, time: time ?? 0, mac: mac ?? Buffer.alloc(0) };
}

/** Returns the claim with an empty MAC, which is never valid. */
function withInvalidMac(claim: Stored<FinishedClaim>): Stored<FinishedClaim> {
  return { ...claim, mac: Buffer.alloc(0) };
}
