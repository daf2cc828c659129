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
import { intentFacts, isAuthenticWork, type WorkKey, workMac } from './work-mac.js';

/**
 * A claim on a fingerprint. It contains the intent of the append that will create, or has created, the token with this
 * fingerprint. `_id` consists of the tenant id and the keyed hash of the fingerprint.
 */
type FingerprintClaim = {
  readonly _id: string;
  readonly attempt: string;
  readonly intent: Intent;
  /** The id of the batch that contains the append, or null if the append is not part of a batch. */
  readonly batch: string | null;
  /** The MAC over the id, the intent and the batch. */
  readonly mac: Buffer;
};

export type HeldFingerprint = { readonly id: string; readonly attempt: string };

/**
 * The result of an attempt to claim a fingerprint. `duplicate` means that a live token in `stream` already has the
 * fingerprint.
 */
export type Hold =
  | { readonly outcome: 'held'; readonly held: HeldFingerprint }
  | { readonly outcome: 'duplicate'; readonly stream: string };

/**
 * Returns the id of the claim on a fingerprint. To prevent deadlocks, a process that claims several fingerprints must
 * claim them in the order of these ids.
 */
export function fingerprintId({ tenantId, fingerprintHash }: NonNullable<StreamWrite['distinct']>): string {
  return `${tenantId}:${fingerprintHash}`;
}

/**
 * Claims a fingerprint. Call this before an append creates a token that must be the only live token with the
 * fingerprint. `batch` is the id of the batch that contains the append, or null.
 */
export type HoldFingerprint = (
  write: StreamWrite,
  distinct: NonNullable<StreamWrite['distinct']>,
  batch: string | null,
) => Promise<Hold>;

const pollMs = 25;

type Deps = {
  readonly connection: MongoConnection;
  readonly log: EventLog;
  readonly rows: Pick<TokenRows, 'findByFingerprint'>;
  readonly batches: Pick<Batches, 'isOpen' | 'settle'>;
  readonly waits: Waits;
  readonly workKey: WorkKey;
  readonly now: () => number;
  /** Brings a stream's row up to date with the newest event in the stream. */
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

/**
 * Decides which stream may have a fingerprint (docs/contract.md, "Deduplication on create"; docs/design.md,
 * "Deduplication"). A process takes over a claim only after its owner's append has been settled. Any number of
 * simultaneous create requests therefore results in only one token. This is true even if a process dies or is suspended
 * at any moment.
 *
 * Invariant: if a pending append might still create a live token with the fingerprint, the claim contains the intent of
 * that append. Before a process replaces a claim, it therefore settles the append in the claim, even if that append is
 * to the same stream.
 */
export function createFingerprintClaims({ connection, log, rows, batches, waits, workKey, now, project }: Deps) {
  const claims = (db: Db): Collection<FingerprintClaim> => db.collection<FingerprintClaim>(fingerprintsCollection);

  /** The fingerprints claimed by pending changes in this process. Each promise resolves when the change has ended. */
  const underWay = new Map<string, Promise<void>>();

  async function livingOther(write: StreamWrite, distinct: NonNullable<StreamWrite['distinct']>) {
    const found = await rows.findByFingerprint(distinct.tenantId, distinct.fingerprintHash, distinct.now);
    return found === null || found === write.stream ? null : found;
  }

  /**
   * Waits until one of three things has happened: the owner has released the claim, the owner's append has been barred,
   * or the row for that append has been written.
   */
  async function settleOwner({ _id, attempt, intent, batch, mac }: FingerprintClaim): Promise<void> {
    const facts = () => [intentFacts(intent), batch];
    // Ignores a claim that was not recorded by the vault, because such a claim does not describe an append by the
    // vault.
    if (!(await isAuthenticWork(workKey, { in: 'fingerprints', id: _id }, mac, facts))) return;
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

  /**
   * Stores a claim. If `known` is not null, replaces that claim. Returns false if another process has stored a
   * different claim since `known` was read.
   */
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
      const intent = intentOf(write);
      const mac = await workMac(workKey, { in: 'fingerprints', id }, [intentFacts(intent), batch]);
      if (!(await take({ _id: id, attempt, intent, batch, mac }, known))) continue;
      // Checks again, because a request without deduplication may have created a token with this fingerprint without
      // claiming it.
      const late = await livingOther(write, distinct);
      if (late === null) return { outcome: 'held', held: { id, attempt } };
      await release({ id, attempt });
      return { outcome: 'duplicate', stream: late };
    }
  };

  return {
    /**
     * Runs a change. Until the change ends, no other change in this process can claim the fingerprints that it has
     * claimed. If several changes need the same fingerprint, one of them queries the stores and the others wait for its
     * outcome.
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
    /** Removes a claim. Call this only if it is certain that the append will never land. */
    release,
    /**
     * Removes the fingerprint claims of a token whose life ended at this revision. Call this before the token's row
     * shows that the life has ended. If a process has already claimed a fingerprint for the token's next life, that
     * claim is not removed.
     */
    async forget(stream: string, revision: number): Promise<void> {
      const earlier = { 'intent.stream': stream, 'intent.expectedRevision': { $lt: revision } };
      await connection.call((db) => claims(db).deleteMany(earlier));
    },
  };
}
