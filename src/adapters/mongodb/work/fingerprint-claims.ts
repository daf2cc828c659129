import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import type { EventLog } from '../../../ports/event-log.js';
import type { TokenRows } from '../../../ports/token-rows.js';
import type { StreamWrite } from '../../../ports/unit-of-work.js';
import type { MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { fingerprintsCollection } from '../work-indexes.js';
import type { Batches } from './batches.js';
import { type Intent, intentOf, outcomeOf, settle } from './intent.js';
import type { Waits } from './waits.js';

/** Who is about to make, or has made, the token with a fingerprint. `_id` is the tenant and its keyed hash. */
type FingerprintClaim = {
  readonly _id: string;
  readonly attempt: string;
  readonly intent: Intent;
  /** The batch that the append belongs to, or null: then it stands for itself. */
  readonly batch: string | null;
};

export type HeldFingerprint = { readonly id: string; readonly attempt: string };

/** `duplicate`: a living token has it, in this stream. */
export type Hold =
  | { readonly outcome: 'held'; readonly held: HeldFingerprint }
  | { readonly outcome: 'duplicate'; readonly stream: string };

/**
 * What a fingerprint is claimed under. Whoever claims several does so in the order of these, or two wait for each
 * other.
 */
export function fingerprintId({ tenantId, fingerprintHash }: NonNullable<StreamWrite['distinct']>): string {
  return `${tenantId}:${fingerprintHash}`;
}

/**
 * Claims a fingerprint before an append that must be the only living one with it; `batch`: the one that it is part of.
 */
export type HoldFingerprint = (
  write: StreamWrite,
  distinct: NonNullable<StreamWrite['distinct']>,
  batch: string | null,
) => Promise<Hold>;

const pollMs = 25;

type Needs = {
  readonly connection: MongoConnection;
  readonly log: EventLog;
  readonly rows: Pick<TokenRows, 'findByFingerprint'>;
  readonly batches: Pick<Batches, 'isOpen' | 'settle'>;
  readonly waits: Waits;
  readonly now: () => number;
  /** Brings the row of a stream to the end of the stream. */
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

/**
 * Which stream may come to hold a fingerprint (docs/contract.md, "Deduplication on create"; docs/design.md,
 * "Deduplication"). One that was claimed is taken over only after the append of its owner was seen to have failed or
 * was barred, so of many simultaneous creates one token results, whatever process dies or stops at whatever moment.
 *
 * What keeps it: an append that may still come, and would make a living token of the fingerprint, is always the one
 * that the claim names. So whoever replaces the claim settles that append first, also when it is in the same stream.
 */
export function createFingerprintClaims({ connection, log, rows, batches, waits, now, project }: Needs) {
  const claims = (db: Db): Collection<FingerprintClaim> => db.collection<FingerprintClaim>(fingerprintsCollection);

  /** Changes of this process, by the fingerprint that they hold; they settle when the change is made, or is not. */
  const underWay = new Map<string, Promise<void>>();

  async function livingOther(write: StreamWrite, distinct: NonNullable<StreamWrite['distinct']>) {
    const found = await rows.findByFingerprint(distinct.tenantId, distinct.fingerprintHash, distinct.now);
    return found === null || found === write.stream ? null : found;
  }

  /** Waits until what the owner intended is in its row, or can never be, or the owner has given the fingerprint up. */
  async function settleOwner({ _id, attempt, intent, batch }: FingerprintClaim): Promise<void> {
    const until = performance.now() + waits.ownerMs;
    const isOpen = async () => (batch === null ? (await outcomeOf(log, intent)) === 'open' : batches.isOpen(batch));
    while ((await isOpen()) && performance.now() < until) {
      if ((await connection.call((db) => claims(db).findOne({ _id, attempt }))) === null) return;
      await wait(pollMs);
    }
    if (batch !== null) await batches.settle(batch);
    else {
      await settle(log, intent, now());
      await project(intent.tenantId, intent.stream);
    }
  }

  /** False: somebody else was first. */
  async function take({ _id, ...mine }: FingerprintClaim, known: FingerprintClaim | null): Promise<boolean> {
    try {
      return await connection.call(async (db) => {
        if (known === null) return (await claims(db).insertOne({ _id, ...mine })).acknowledged;
        return (await claims(db).updateOne({ _id, attempt: known.attempt }, { $set: mine })).matchedCount === 1;
      });
    } catch (error) {
      if (error instanceof DuplicateKey) return false;
      throw error;
    }
  }

  async function release({ id, attempt }: HeldFingerprint): Promise<void> {
    await connection.call((db) => claims(db).deleteOne({ _id: id, attempt }));
  }

  const hold: HoldFingerprint = async (write, distinct, batch) => {
    const id = fingerprintId(distinct);
    for (;;) {
      const known = await connection.call((db) => claims(db).findOne({ _id: id }));
      const living = await livingOther(write, distinct);
      if (living !== null) return { outcome: 'duplicate', stream: living };
      if (known !== null) await settleOwner(known);
      const landed = known === null ? null : await livingOther(write, distinct);
      if (landed !== null) return { outcome: 'duplicate', stream: landed };
      const attempt = randomUUID();
      if (!(await take({ _id: id, attempt, intent: intentOf(write), batch }, known))) continue;
      // One that was made without a claim, because deduplication was not asked for.
      const late = await livingOther(write, distinct);
      if (late === null) return { outcome: 'held', held: { id, attempt } };
      await release({ id, attempt });
      return { outcome: 'duplicate', stream: late };
    }
  };

  return {
    /**
     * Runs a change, and what it holds is its own in this process until it ends: of many that want one fingerprint one
     * asks the stores, the others wait for what came of it.
     */
    async during<T>(change: (hold: HoldFingerprint) => Promise<T>): Promise<T> {
      const mine = new Set<string>();
      let leave: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const holdHere: HoldFingerprint = async (write, distinct, batch) => {
        const id = fingerprintId(distinct);
        for (let other = underWay.get(id); other !== undefined && !mine.has(id); other = underWay.get(id)) {
          await other;
          const living = await livingOther(write, distinct);
          if (living !== null) return { outcome: 'duplicate', stream: living };
        }
        mine.add(id);
        underWay.set(id, ended);
        return hold(write, distinct, batch);
      };
      try {
        return await change(holdHere);
      } finally {
        for (const id of mine) underWay.delete(id);
        leave();
      }
    },
    /** When the append is known never to come. */
    release,
    /**
     * The token of a stream ended with this revision: what is left of its fingerprint goes before its row says so. A
     * claim of somebody who is about to begin the next life stays.
     */
    async forget(stream: string, revision: number): Promise<void> {
      const earlier = { 'intent.stream': stream, 'intent.expectedRevision': { $lt: revision } };
      await connection.call((db) => claims(db).deleteMany(earlier));
    },
  };
}
