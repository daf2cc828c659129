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
 * The claim on a fingerprint. It names the append that will create, or has created, the token with this fingerprint.
 * `_id` consists of the tenant id and the keyed hash of the fingerprint.
 */
type FingerprintClaim = {
  readonly _id: string;
  readonly attempt: string;
  readonly intent: Intent;
  /** The id of the batch that the append belongs to, or null if it belongs to none. */
  readonly batch: string | null;
  /** The MAC over the id, the intent and the batch. */
  readonly mac: Buffer;
};

export type HeldFingerprint = { readonly id: string; readonly attempt: string };

/** `duplicate` means that a live token in this stream has the fingerprint. */
export type Hold =
  | { readonly outcome: 'held'; readonly held: HeldFingerprint }
  | { readonly outcome: 'duplicate'; readonly stream: string };

/**
 * Returns the id of a fingerprint's claim. A process that claims several fingerprints must claim them in the order of
 * these ids, so that two processes cannot deadlock.
 */
export function fingerprintId({ tenantId, fingerprintHash }: NonNullable<StreamWrite['distinct']>): string {
  return `${tenantId}:${fingerprintHash}`;
}

/**
 * Claims a fingerprint. Called before an append that creates a token, which must be the only live token with the
 * fingerprint. `batch` is the id of the batch that the append belongs to, or null.
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
  /** Updates a stream's row to the newest event in the stream. */
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

/**
 * Decides which stream may have a fingerprint (docs/contract.md, "Deduplication on create"; docs/design.md,
 * "Deduplication"). A process takes over a claim only after the append of the claim's owner has been settled. Therefore
 * any number of simultaneous creates results in only one token, even if a process dies or is suspended at any moment.
 *
 * Invariant: if an append may still land and would create a live token with the fingerprint, the claim names that
 * append. A process that replaces a claim therefore first settles the append that the claim names, even if it is an
 * append to the same stream.
 */
export function createFingerprintClaims({ connection, log, rows, batches, waits, workKey, now, project }: Deps) {
  const claims = (db: Db): Collection<FingerprintClaim> => db.collection<FingerprintClaim>(fingerprintsCollection);

  /**
   * The fingerprints that the pending changes of this process have claimed. Each promise resolves when the change has
   * ended.
   */
  const underWay = new Map<string, Promise<void>>();

  async function livingOther(write: StreamWrite, distinct: NonNullable<StreamWrite['distinct']>) {
    const found = await rows.findByFingerprint(distinct.tenantId, distinct.fingerprintHash, distinct.now);
    return found === null || found === write.stream ? null : found;
  }

  /**
   * Waits until the owner has released the claim, the owner's append is barred, or the row for that append is written.
   */
  async function settleOwner({ _id, attempt, intent, batch, mac }: FingerprintClaim): Promise<void> {
    const facts = () => [intentFacts(intent), batch];
    // A claim that the vault did not record does not name an append by the vault.
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
   * Stores a claim in place of the known claim, if any. Returns false if another process has stored a claim in the
   * meantime.
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
      // A request without deduplication may have created a token without a claim.
      const late = await livingOther(write, distinct);
      if (late === null) return { outcome: 'held', held: { id, attempt } };
      await release({ id, attempt });
      return { outcome: 'duplicate', stream: late };
    }
  };

  return {
    /**
     * Runs a change. When the change claims a fingerprint, it gets exclusive use of that fingerprint within this
     * process until the change ends. If several changes need the same fingerprint, one of them queries the stores and
     * the others wait for its outcome.
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
    /** Removes a claim. Call this only if the append will certainly never land. */
    release,
    /**
     * Removes the fingerprint claims of a token whose life ended with this revision. Called before the token's row
     * shows that the life has ended. If a process is about to begin the token's next life, keeps that process's claim.
     */
    async forget(stream: string, revision: number): Promise<void> {
      const earlier = { 'intent.stream': stream, 'intent.expectedRevision': { $lt: revision } };
      await connection.call((db) => claims(db).deleteMany(earlier));
    },
  };
}
