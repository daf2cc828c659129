import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import type { EventLog } from '../../../ports/event-log.js';
import type { TokenRows } from '../../../ports/token-rows.js';
import type { StreamWrite } from '../../../ports/unit-of-work.js';
import type { MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { hasLanded, type Intent, intentOf, settle } from './intent.js';
import { fingerprintsCollection } from './work-indexes.js';

/** Who is about to make, or has made, the token with a fingerprint. `_id` is the tenant and its keyed hash. */
type FingerprintClaim = { readonly _id: string; readonly attempt: string; readonly intent: Intent };

export type HeldFingerprint = { readonly id: string; readonly attempt: string };

/** `duplicate`: a living token has it, in this stream. */
export type Hold =
  | { readonly outcome: 'held'; readonly held: HeldFingerprint }
  | { readonly outcome: 'duplicate'; readonly stream: string };

/** What a fingerprint is claimed under. Whoever claims several does so in the order of these, or two wait for each other. */
export function fingerprintId({ tenantId, fingerprintHash }: NonNullable<StreamWrite['distinct']>): string {
  return `${tenantId}:${fingerprintHash}`;
}

/** Claims a fingerprint before an append that must be the only living one with it. */
export type HoldFingerprint = (write: StreamWrite, distinct: NonNullable<StreamWrite['distinct']>) => Promise<Hold>;

/** How long another's append is waited for before it is barred. */
const patienceMs = 1_000;
const pollMs = 25;

type Needs = {
  readonly connection: MongoConnection;
  readonly log: EventLog;
  readonly rows: Pick<TokenRows, 'findByFingerprint'>;
  readonly now: () => number;
  /** Brings the row of a stream to the end of the stream. */
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

/**
 * Which stream may come to hold a fingerprint (contract, section 6; architecture, "Deduplication"). One that was claimed is
 * taken over only after the append of its owner was seen to have failed or was barred, so of many simultaneous creates
 * one token results, whatever process dies or stops at whatever moment.
 */
export function createFingerprintClaims({ connection, log, rows, now, project }: Needs) {
  const claims = (db: Db): Collection<FingerprintClaim> => db.collection<FingerprintClaim>(fingerprintsCollection);

  /** Changes of this process, by the fingerprint that they hold; they settle when the change is made, or is not. */
  const underWay = new Map<string, Promise<void>>();

  async function livingOther(write: StreamWrite, distinct: NonNullable<StreamWrite['distinct']>) {
    const found = await rows.findByFingerprint(distinct.tenantId, distinct.fingerprintHash, distinct.now);
    return found === null || found === write.stream ? null : found;
  }

  /** Waits until what the owner intended is in its row, or can never be, or the owner has given the fingerprint up. */
  async function settleOwner({ _id, attempt, intent }: FingerprintClaim): Promise<void> {
    const until = performance.now() + patienceMs;
    while (!(await hasLanded(log, intent)) && performance.now() < until) {
      if ((await connection.call((db) => claims(db).findOne({ _id, attempt }))) === null) return;
      await wait(pollMs);
    }
    await settle(log, intent, now());
    await project(intent.tenantId, intent.stream);
  }

  /** False: somebody else was first. */
  async function take(id: string, known: FingerprintClaim | null, mine: FingerprintClaim): Promise<boolean> {
    const { attempt, intent } = mine;
    try {
      return await connection.call(async (db) => {
        if (known === null) return (await claims(db).insertOne(mine)).acknowledged;
        const swapped = await claims(db).updateOne({ _id: id, attempt: known.attempt }, { $set: { attempt, intent } });
        return swapped.matchedCount === 1;
      });
    } catch (error) {
      if (error instanceof DuplicateKey) return false;
      throw error;
    }
  }

  async function release({ id, attempt }: HeldFingerprint): Promise<void> {
    await connection.call((db) => claims(db).deleteOne({ _id: id, attempt }));
  }

  async function hold(write: StreamWrite, distinct: NonNullable<StreamWrite['distinct']>): Promise<Hold> {
    const id = fingerprintId(distinct);
    for (;;) {
      const known = await connection.call((db) => claims(db).findOne({ _id: id }));
      const living = await livingOther(write, distinct);
      if (living !== null) return { outcome: 'duplicate', stream: living };
      if (known !== null && known.intent.stream !== write.stream) {
        await settleOwner(known);
        const landed = await livingOther(write, distinct);
        if (landed !== null) return { outcome: 'duplicate', stream: landed };
      }
      const attempt = randomUUID();
      if (!(await take(id, known, { _id: id, attempt, intent: intentOf(write) }))) continue;
      // One that was made without a claim, because deduplication was not asked for.
      const late = await livingOther(write, distinct);
      if (late === null) return { outcome: 'held', held: { id, attempt } };
      await release({ id, attempt });
      return { outcome: 'duplicate', stream: late };
    }
  }

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
      const holdHere: HoldFingerprint = async (write, distinct) => {
        const id = fingerprintId(distinct);
        for (let other = underWay.get(id); other !== undefined && !mine.has(id); other = underWay.get(id)) {
          await other;
          const living = await livingOther(write, distinct);
          if (living !== null) return { outcome: 'duplicate', stream: living };
        }
        mine.add(id);
        underWay.set(id, ended);
        return hold(write, distinct);
      };
      try {
        return await change(holdHere);
      } finally {
        for (const id of mine) underWay.delete(id);
        leave();
      }
    },
    /** After an append that is known to have failed. */
    release,
    /** The token of a stream has ended: what is left of its fingerprint goes too. Correctness does not need it. */
    async forget(stream: string): Promise<void> {
      await connection.call((db) => claims(db).deleteMany({ 'intent.stream': stream }));
    },
  };
}
