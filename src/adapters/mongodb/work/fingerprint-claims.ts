import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { atMost } from '../../../domain/at-most.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { TokenRows, TokenRowWriter } from '../../../ports/token-rows.js';
import type { StreamWrite } from '../../../ports/unit-of-work.js';
import { isOlderThan } from '../age.js';
import { unlessDuplicate } from '../mongo-error.js';
import { fingerprintsCollection } from '../work-indexes.js';
import type { Batches } from './batches.js';
import { type Intent, intentOf, outcomeOf, settle } from './intent.js';
import type { WorkDeps } from './work-deps.js';
import { intentFacts, isAuthenticWork, workMac } from './work-mac.js';

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
  /** The time when the claim was stored, according to MongoDB's clock. Absent before that. */
  readonly openedAt?: Date;
};

/**
 * The result of an attempt to claim fingerprints. `duplicate` means that a live token in `stream` already has the
 * fingerprint of the write at index `write`. No fingerprint is claimed in this case.
 */
export type Hold =
  | { readonly outcome: 'held'; readonly held: readonly FingerprintClaim[] }
  | { readonly outcome: 'duplicate'; readonly write: number; readonly stream: string };

/**
 * Claims the fingerprints of all writes that have `distinct`, or none of them. Call this before an append creates
 * tokens that must be the only live tokens with their fingerprints. `batch` is the id of the batch that contains the
 * append, or null.
 */
export type HoldFingerprints = (writes: readonly StreamWrite[], batch: string | null) => Promise<Hold>;

type Wanted = {
  /** The id of the claim on the fingerprint. */
  readonly id: string;
  readonly index: number;
  readonly write: StreamWrite;
  readonly distinct: NonNullable<StreamWrite['distinct']>;
};

function wantedBy(writes: readonly StreamWrite[]): readonly Wanted[] {
  const wanted = writes.flatMap((write, index) => {
    const { distinct } = write;
    return distinct === null
      ? []
      : [{ id: `${distinct.tenantId}:${distinct.fingerprintHash}`, index, write, distinct }];
  });
  // Every process claims fingerprints in the same order. Of the processes that claim some of them at the same time, one
  // therefore always succeeds.
  return wanted.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Matches these claims, and no newer claims on the same fingerprints, because those have a different `attempt`. */
function these(claims: readonly FingerprintClaim[]) {
  return { _id: { $in: claims.map(({ _id }) => _id) }, attempt: { $in: claims.map(({ attempt }) => attempt) } };
}

const workOf = ({ _id, batch }: FingerprintClaim) => batch ?? _id;

/** Returns one claim of each batch, because the claims of one batch are settled together. */
function oneOfEachWork(claims: readonly FingerprintClaim[]): readonly FingerprintClaim[] {
  return [...new Map(claims.map((claim) => [workOf(claim), claim])).values()];
}

const pollMs = 25;
const pageSize = 1_000;
const settledAtOnce = 16;
/** The time, in ms, after which `clear` reads no more claims. The leader's other work waits for `clear`. */
const clearMs = 1_000;

type Deps = WorkDeps & {
  readonly rows: Pick<TokenRows, 'findByFingerprint'>;
  readonly batches: Pick<Batches, 'isOpen' | 'settle'>;
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
    const { _id, attempt, intent, batch } = claim;
    const until = performance.now() + waits.ownerMs;
    const isOpen = async () => (batch === null ? (await outcomeOf(log, intent)) === 'open' : batches.isOpen(batch));
    while ((await isOpen()) && performance.now() < until) {
      if ((await connection.call((db) => claims(db).findOne({ _id, attempt }))) === null) return;
      await wait(pollMs);
    }
    await settleAppend(claim);
  }

  /**
   * Returns the claims that were recorded by the vault. The others do not describe an append by the vault, so nothing
   * can be settled.
   */
  async function authenticOf(found: readonly FingerprintClaim[]): Promise<FingerprintClaim[]> {
    const areAuthentic = await Promise.all(found.map(isAuthentic));
    return found.filter((_, index) => areAuthentic[index]);
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
   * Stores claims. Replaces those that are in `known`. If another process has stored one of them since `known` was
   * read, stores none of them and returns false.
   */
  async function take(
    mine: readonly FingerprintClaim[],
    known: ReadonlyMap<string, FingerprintClaim>,
  ): Promise<boolean> {
    const updates = mine.map(({ _id, ...claim }) => {
      const attempt = known.get(_id)?.attempt ?? { $exists: false };
      const update = { $set: claim, $currentDate: { openedAt: true } } as const;
      // If another process has stored this claim, the filter does not match. MongoDB then tries to insert the claim,
      // which fails and ends the whole call. The claims after this one are therefore left to that process.
      return { updateOne: { filter: { _id, attempt }, update, upsert: true } };
    });
    if (await unlessDuplicate(connection.call((db) => claims(db).bulkWrite(updates)))) return true;
    await release(mine);
    return false;
  }

  async function release(held: readonly FingerprintClaim[]): Promise<void> {
    if (held.length > 0) await connection.call((db) => claims(db).deleteMany(these(held)));
  }

  /** Returns the first write whose fingerprint a different live token has, or null. */
  async function duplicateOf(wanted: readonly Wanted[]) {
    const found = await atMost(settledAtOnce, wanted, ({ write, distinct }) => livingOther(write, distinct));
    for (const [position, { index }] of wanted.entries()) {
      const stream = found[position] ?? null;
      if (stream !== null) return { outcome: 'duplicate', write: index, stream } as const;
    }
    return null;
  }

  async function claimOf({ id, write }: Wanted, attempt: string, batch: string | null): Promise<FingerprintClaim> {
    const intent = intentOf(write);
    const mac = await workMac(workKey, { in: 'fingerprints', id }, [intentFacts(intent), batch]);
    return { _id: id, attempt, intent, batch, mac };
  }

  /**
   * Waits for other processes only while it has claimed nothing, so that they never wait for this process meanwhile.
   */
  async function holdAll(wanted: readonly Wanted[], batch: string | null): Promise<Hold> {
    for (;;) {
      const found = await connection.call((db) =>
        claims(db)
          .find({ _id: { $in: wanted.map(({ id }) => id) } })
          .toArray(),
      );
      const living = await duplicateOf(wanted);
      if (living !== null) return living;
      await atMost(settledAtOnce, oneOfEachWork(await authenticOf(found)), settleOwner);
      const known = new Map(found.map((claim) => [claim._id, claim]));
      const landed = await duplicateOf(wanted.filter(({ id }) => known.has(id)));
      if (landed !== null) return landed;
      // A new id for each try, so that a process that saw the claims of an earlier try cannot replace those of this
      // one.
      const attempt = randomUUID();
      const mine = await Promise.all(wanted.map((one) => claimOf(one, attempt, batch)));
      if (!(await take(mine, known))) continue;
      // Checks again, because a request without deduplication may have created a token with this fingerprint without
      // claiming it.
      const late = await duplicateOf(wanted);
      if (late === null) return { outcome: 'held', held: mine };
      await release(mine);
      return late;
    }
  }

  /**
   * Settles up to `pageSize` old claims, and removes them. Returns how many old claims were read. A claim whose append
   * cannot be settled, for example because a key is lost, is kept, and counts as new again.
   */
  async function clearPage(revisionsOf: TokenRowWriter['revisionsOf']): Promise<number> {
    const isOld = { $expr: isOlderThan('$openedAt', waits.fingerprintMs) };
    const old = await connection.call((db) =>
      claims(db)
        .find(isOld, { hint: 'opened', sort: { openedAt: 1 }, limit: pageSize })
        .toArray(),
    );
    if (old.length === 0) return 0;
    const authentic = await authenticOf(old);
    const stored = await revisionsOf(authentic.map(({ intent }) => intent.stream));
    // If a row is newer than the expected revision of an append, the append is settled. Most claims are of this kind.
    const open = authentic.filter(({ intent }) => (stored.get(intent.stream) ?? -1) <= intent.expectedRevision);
    const stuck = new Map<string, unknown>();
    await atMost(settledAtOnce, oneOfEachWork(open), async (claim) => {
      try {
        await settleAppend(claim);
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        stuck.set(workOf(claim), error);
      }
    });
    const isStuck = (claim: FingerprintClaim) => stuck.has(workOf(claim));
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
    async during<T>(change: (hold: HoldFingerprints) => Promise<T>): Promise<T> {
      const mine = new Set<string>();
      let leave: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const hold: HoldFingerprints = async (writes, batch) => {
        const wanted = wantedBy(writes);
        if (wanted.length === 0) return { outcome: 'held', held: [] };
        const isBusy = ({ id }: Wanted) => underWay.has(id) && !mine.has(id);
        for (let busy = wanted.find(isBusy); busy !== undefined; busy = wanted.find(isBusy)) {
          await underWay.get(busy.id);
          const living = await duplicateOf([busy]);
          if (living !== null) return living;
        }
        for (const { id } of wanted) {
          mine.add(id);
          underWay.set(id, ended);
        }
        return holdAll(wanted, batch);
      };
      try {
        return await change(hold);
      } finally {
        for (const id of mine) underWay.delete(id);
        leave();
      }
    },
    /** Removes claims. Call this only if it is certain that their appends will never land. */
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
