import type { Expressions } from '../domain/expressions/expressions.js';
import type { StreamQueue } from '../domain/stream-queue.js';
import type { NewAccessEntry } from '../events/access-log/access-entry.js';
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
import type { FoundProblem } from '../ports/store-problem.js';
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
import type { UnfinishedErasures } from './unfinished-erasures.js';

/**
 * Records entries in the access log. It uses a limited amount of memory. While the log cannot be written, entries wait
 * in memory, and entries that do not fit are dropped. Each affected tenant later gets an entry that reports the loss.
 */
export type AccessRecorder = {
  /**
   * Resolves when these entries, and all entries that were recorded before them, are durable. Throws StoreUnavailable.
   */
  now(entries: readonly NewAccessEntry[]): Promise<void>;
  /**
   * Records these entries within milliseconds. If the log cannot be written, keeps the entries in memory and retries.
   */
  soon(entries: readonly NewAccessEntry[]): void;
  /** Returns false if the last attempt to write the log failed. */
  isWritable(): boolean;
  /** Returns the problem that the operator must fix before the log can be written. Returns null if none is known. */
  problem(): FoundProblem | null;
  /** Writes the remaining entries if the log can be written. */
  close(): Promise<void>;
};

/**
 * The ports, shared parts and settings used by commands and queries. The adapters depend on the profile, and are
 * provided by `compose`. A function accepts only the fields that it and the functions it calls use, as `Pick<Vault, …>`
 * or as the `…Deps` type of a function that it calls.
 */
export type Vault = {
  readonly log: EventLog;
  /**
   * The same log as `log`, but without verification. Audits use it, because they must name the events that are not
   * authentic.
   */
  readonly storedLog: StoredLog;
  readonly chain: EventChain;
  readonly rows: AuthenticTokenRows;
  /** Returns the generation used for searches, and the generations that receive the index entries of new rows. */
  readonly generations: { inUse(): Promise<GenerationsInUse> };
  readonly keys: KeyRing;
  /** The keys for the MACs of commits, rows and other stored data. */
  readonly integrity: IntegrityKeys;
  readonly claims: AuthenticClaims;
  /** Counts the guesses that each application has used. Use `guesses` to spend guesses. */
  readonly budgets: Budgets;
  readonly directory: AuthenticDirectory;
  /** Searches the stores for remains of an erased token. */
  readonly erasureProbe: ErasureProbe;
  readonly searchIndex: SearchIndexCheck;
  /** Commits changes, and records every committed event in the access log (`access-log/recorded-work.ts`). */
  readonly work: UnitOfWork;
  readonly accessLog: AccessLog;
  /** The counts for charts. They are not authenticated. */
  readonly dailyCounts: DailyCounts;
  /** Records every access. `release` uses it to record the tokens in a response. */
  readonly recorder: AccessRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly expressions: Expressions;
  readonly streams: StreamQueue;
  /** Schedules all work that may take a long time to compute. */
  readonly turns: Turns;
  readonly unfinishedErasures: UnfinishedErasures;
  readonly knownCallers: KnownCallers;
  readonly vocabularies: Vocabularies;
  /** The delivery state of each webhook. */
  readonly webhookStore: AuthenticWebhookStore;
  readonly webhookSender: WebhookSender;
  /** Console sessions, one-time codes and unfinished sign-ins. */
  readonly consoleSessions: AuthenticConsoleSessions;
  /** Charges the caller for each look-up by value and each look-up of many ids, before the response is sent. */
  readonly guesses: Guesses;
  /**
   * Resolves if all data that the stores returned after the time `since` (from `performance.now()`) was current. Await
   * this before sending a response that depends on a read. Pass true for `hasWritten` if a durable write was
   * acknowledged after the last of these reads. Throws StoreUnavailable if the reads may be stale. A server that is no
   * longer the leader can return stale reads for several seconds.
   */
  readonly confirmReads: (since: number, hasWritten?: boolean) => Maybe<void>;
  /**
   * Reports a damaged row or key if work continues without it. Logs each error once, because the same damage is usually
   * found again and again.
   */
  readonly reportDamage: (error: unknown) => void;
  /** How long a cvc is kept, in milliseconds. This is at most one hour. */
  readonly cvcRetentionMs: number;
};
