import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import type { EventLog } from '../../../ports/event-log.js';
import type { TokenRows } from '../../../ports/token-rows.js';
import type { StreamWrite } from '../../../ports/unit-of-work.js';
import type { MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { hasLanded, type Intent, intentOf, settle } from './intent.js';
import type { Waits } from './waits.js';
import { fingerprintsCollection } from './work-indexes.js';

/** Who is about to make, or has made, the token with a fingerprint. `_id` is the tenant and its keyed hash. */
type FingerprintClaim = { readonly _id: string; readonly attempt: string; readonly intent: Intent };

export type HeldFingerprint = { readonly id: string; readonly attempt: string };

/** `duplicate`: a living token has it, in this stream. */
export type Hold =
  | { readonly outcome: 'held'; readonly held: HeldFingerprint }
  | { readonly outcome: 'duplicate'; readonly stream: string };

const pollMs = 25;

type Needs = {
  readonly connection: MongoConnection;
  readonly log: EventLog;
  readonly rows: Pick<TokenRows, 'findByFingerprint'>;
  readonly waits: Waits;
  readonly now: () => number;
  /** Brings the row of a stream to the end of the stream. */
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

/**
 * Which stream may come to hold a fingerprint (contract, section 6; architecture, "Deduplication"). One that was claimed is
 * taken over only after the append of its owner was seen to have failed or was barred, so of many simultaneous creates
 * one token results, whatever process dies or stops at whatever moment.
 */
export function createFingerprintClaims({ connection, log, rows, waits, now, project }: Needs) {
  const claims = (db: Db): Collection<FingerprintClaim> => db.collection<FingerprintClaim>(fingerprintsCollection);

  async function livingOther(write: StreamWrite, distinct: NonNullable<StreamWrite['distinct']>) {
    const found = await rows.findByFingerprint(distinct.tenantId, distinct.fingerprintHash, distinct.now);
    return found === null || found === write.stream ? null : found;
  }

  /** Waits until what the owner intended is in its row, or can never be. */
  async function settleOwner({ intent }: FingerprintClaim): Promise<void> {
    const until = performance.now() + waits.ownerMs;
    while (!(await hasLanded(log, intent)) && performance.now() < until) await wait(pollMs);
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

  return {
    /** Before an append that must be the only living one with its fingerprint. */
    async hold(write: StreamWrite, distinct: NonNullable<StreamWrite['distinct']>): Promise<Hold> {
      const id = `${distinct.tenantId}:${distinct.fingerprintHash}`;
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
    },
    /** After an append that is known to have failed. */
    release,
    /** The token of a stream has ended: what is left of its fingerprint goes too. Correctness does not need it. */
    async forget(stream: string): Promise<void> {
      await connection.call((db) => claims(db).deleteMany({ 'intent.stream': stream }));
    },
  };
}
