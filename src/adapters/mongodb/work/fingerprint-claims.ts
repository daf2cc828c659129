import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { atMost } from '../../../domain/at-most.js';
import type { EventLog } from '../../../ports/event-log.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { TokenRows, TokenRowWriter } from '../../../ports/token-rows.js';
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
  /** The time when the claim was stored, according to MongoDB's clock. Older claims lack this time. */
  readonly openedAt?: Date;
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
const pageSize = 1_000;
const settledAtOnce = 16;
/** The time, in ms, after which `clear` reads no more claims. The leader's other work waits for `clear`. */
const clearMs = 1_000;

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

  /**
   * Returns a live token that has the fingerprint and may be a duplicate, or null. Threat: an attacker plants tokens
   * with this fingerprint and another value. They are in `others`, and neither stop the write nor replace its token.
   */
  async function livingOther(
    { stream }: StreamWrite,
    { tenantId, fingerprintHash, now: at, others }: NonNullable<StreamWrite['distinct']>,
  ) {
    const found = await rows.findByFingerprint(tenantId, fingerprintHash, at, others.length + 2);
    return found.find((other) => other !== stream && !others.includes(other)) ?? null;
  }

  /**
   * Waits until one of three things has happened: the owner has released the claim, the owner's append has been barred,
   * or the row for that append has been written.
   */
  async function settleOwner(claim: FingerprintClaim): Promise<void> {
    // Ignores a claim that was not recorded by the vault, because such a claim does not describe an append by the
    // vault.
    if (!(await isAuthentic(claim))) return;
    const { _id, attempt, intent, batch } = claim;
    const until = performance.now() + waits.ownerMs;
    const isOpen = async () => (batch === null ? (await outcomeOf(log, intent)) === 'open' : batches.isOpen(batch));
    while ((await isOpen()) && performance.now() < until) {
      if ((await connection.call((db) => claims(db).findOne({ _id, attempt }))) === null) return;
      await wait(pollMs);
    }
    await settleAppend(claim);
  }

  function isAuthentic({ _id, intent, batch, mac }: FingerprintClaim): Promise<boolean> {
    return isAuthenticWork(workKey, { in: 'fingerprints', id: _id }, mac, () => [intentFacts(intent), batch]);
  }

  /** Bars the append in the claim, or if it is in the log, writes its row. */
  async function settleAppend({ intent, batch }: FingerprintClaim): Promise<void> {
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
    const attempt = known === null ? { $exists: false } : known.attempt;
    const change = { $set: mine, $currentDate: { openedAt: true } } as const;
    try {
      const { matchedCount, upsertedCount } = await connection.call((db) =>
        claims(db).updateOne({ _id, attempt }, change, { upsert: known === null }),
      );
      return matchedCount + upsertedCount === 1;
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

  /**
   * Settles up to `pageSize` old claims, and removes them. Returns how many old claims were read. A claim whose append
   * cannot be settled, for example because a key is lost, is kept, and counts as new again.
   */
  async function clearPage(revisionsOf: TokenRowWriter['revisionsOf']): Promise<number> {
    const isOld = { $expr: { $lt: ['$openedAt', { $subtract: ['$$NOW', waits.fingerprintMs] }] } };
    const old = await connection.call((db) =>
      claims(db)
        .find(isOld, { hint: 'opened', sort: { openedAt: 1 }, limit: pageSize })
        .toArray(),
    );
    if (old.length === 0) return 0;
    const areAuthentic = await Promise.all(old.map(isAuthentic));
    const authentic = old.filter((_, index) => areAuthentic[index]);
    const stored = await revisionsOf(authentic.map(({ intent }) => intent.stream));
    // If a row is newer than the expected revision of an append, the append is settled. Most claims are of this kind.
    const open = authentic.filter(({ intent }) => (stored.get(intent.stream) ?? -1) <= intent.expectedRevision);
    const stuck = new Map<string, unknown>();
    const workOf = ({ _id, batch }: FingerprintClaim) => batch ?? _id;
    // The claims of one batch are settled together.
    const distinct = [...new Map(open.map((claim) => [workOf(claim), claim])).values()];
    await atMost(settledAtOnce, distinct, async (claim) => {
      try {
        await settleAppend(claim);
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        stuck.set(workOf(claim), error);
      }
    });
    const isStuck = (claim: FingerprintClaim) => stuck.has(workOf(claim));
    // A new claim on the same fingerprint is not matched, because it has a different `attempt`.
    const these = (found: readonly FingerprintClaim[]) => ({
      _id: { $in: found.map(({ _id }) => _id) },
      attempt: { $in: found.map(({ attempt }) => attempt) },
    });
    await connection.call((db) => claims(db).deleteMany(these(old.filter((claim) => !isStuck(claim)))));
    if (stuck.size > 0) {
      await connection.call((db) =>
        claims(db).updateMany(these(old.filter(isStuck)), { $currentDate: { openedAt: true } }),
      );
      throw [...stuck.values()][0];
    }
    return old.length;
  }

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
    /**
     * Settles claims that are older than `fingerprintMs`, and removes them. Once the append in a claim is barred, or its
     * row is written, the rows alone show which token has the fingerprint. Without this removal, the claim of a creation
     * that failed would remain for as long as no other command meets it, and it names a stream that may later be the
     * stream of an erased token.
     */
    async clear(revisionsOf: TokenRowWriter['revisionsOf']): Promise<void> {
      const until = performance.now() + clearMs;
      let found: number;
      do found = await clearPage(revisionsOf);
      while (found === pageSize && performance.now() < until);
    },
  };
}
