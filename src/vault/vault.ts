import type { Expressions } from '../domain/expressions/expressions.js';
import type { StreamQueue } from '../domain/stream-queue.js';
import type { AccessEntry } from '../events/access-log/access-entry.js';
import type { IntegrityKeys, KeyRing } from '../keys/key-ring.js';
import type { AccessLog } from '../ports/access-log.js';
import type { Budgets } from '../ports/budgets.js';
import type { Clock } from '../ports/clock.js';
import type { DailyCounts } from '../ports/daily-counts.js';
import type { ErasureProbe } from '../ports/erasure-probe.js';
import type { EventChain } from '../ports/event-chain.js';
import type { EventLog, StoredLog } from '../ports/event-log.js';
import type { GenerationsInUse } from '../ports/generations.js';
import type { Maybe } from '../ports/maybe.js';
import type { Random } from '../ports/random.js';
import type { SearchIndexCheck } from '../ports/search-index-check.js';
import type { Timers } from '../ports/timers.js';
import type { UnitOfWork } from '../ports/unit-of-work.js';
import type { WebhookSender } from '../ports/webhook-sender.js';
import type { Vocabularies } from '../search/vocabulary/vocabularies.js';
import type { AuthenticClaims } from './authentic-claims.js';
import type { AuthenticConsoleSessions } from './authentic-console-sessions.js';
import type { AuthenticDirectory } from './authentic-directory.js';
import type { AuthenticTokenRows } from './authentic-token-rows.js';
import type { AuthenticWebhookStore } from './authentic-webhook-store.js';
import type { Guesses } from './guesses.js';
import type { KnownCallers } from './known-callers.js';
import type { Turns } from './turns.js';

/**
 * Records entries in the access log. The memory that it uses is bounded. While the log cannot be written, it counts the
 * entries that do not fit into memory, and records their number later.
 */
export type AccessRecorder = {
  /** Resolves once these entries, and all entries recorded before them, are durable. Throws StoreUnavailable. */
  now(entries: readonly AccessEntry[]): Promise<void>;
  /** Records these entries within milliseconds. While the log cannot be written, keeps them and retries. */
  soon(entries: readonly AccessEntry[]): void;
  /** False if the last attempt to write the log failed. */
  isWritable(): boolean;
  /** Writes the remaining entries, if the log accepts them. */
  close(): Promise<void>;
};

/** The ports and settings that commands and queries use. `compose` provides the adapters of a profile. */
export type Vault = {
  readonly log: EventLog;
  /** Like `log`, but without verification. Audits use it, because they must name events that are not authentic. */
  readonly storedLog: StoredLog;
  readonly chain: EventChain;
  readonly rows: AuthenticTokenRows;
  /** Returns the generations of rows that are in use, for searches and for the index entries of new rows. */
  readonly generations: { inUse(): Promise<GenerationsInUse> };
  readonly keys: KeyRing;
  /** The keys for the MACs of commits, rows and other stored data. */
  readonly integrity: IntegrityKeys;
  readonly claims: AuthenticClaims;
  /** Counts the guesses that each application has used. Spend guesses through `guesses`. */
  readonly budgets: Budgets;
  readonly directory: AuthenticDirectory;
  /** Searches the stores for remains of an erased token. */
  readonly erasureProbe: ErasureProbe;
  readonly searchIndex: SearchIndexCheck;
  /** Commits changes, and records the committed events in the access log (`access-log/recorded-work.ts`). */
  readonly work: UnitOfWork;
  readonly accessLog: AccessLog;
  /** The counts for charts. They are not authenticated. */
  readonly dailyCounts: DailyCounts;
  /** Records every access. `release` calls it for tokens in a response. */
  readonly recorder: AccessRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly expressions: Expressions;
  readonly streams: StreamQueue;
  /** Schedules all work that may compute for a long time. */
  readonly turns: Turns;
  /**
   * The streams of the tokens whose deletion returned 503, by tenant. Queries no longer find these tokens, but their
   * keys may still exist.
   */
  readonly unfinishedErasures: Map<string, Set<string>>;
  readonly knownCallers: KnownCallers;
  readonly vocabularies: Vocabularies;
  /** The delivery state of each webhook. */
  readonly webhookStore: AuthenticWebhookStore;
  readonly webhookSender: WebhookSender;
  /** Console sessions, one-time codes and unfinished sign-ins. */
  readonly consoleSessions: AuthenticConsoleSessions;
  /** Charges the caller for every look-up by value or by many ids, before the response is sent. */
  readonly guesses: Guesses;
  /**
   * Resolves if everything that the stores have returned since `since` (a time from `performance.now()`) was current.
   * Await this before sending a response that depends on a read. `hasWritten` means that a durable write was
   * acknowledged after the last of these reads. Throws StoreUnavailable if the reads may be stale. Stale reads are
   * possible because a deposed server continues to answer reads for several seconds.
   */
  readonly confirmReads: (since: number, hasWritten: boolean) => Maybe<void>;
  /** How long a cvc is kept, in milliseconds: at most one hour. */
  readonly cvcRetentionMs: number;
};
