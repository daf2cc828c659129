import type { Expressions } from '../domain/expressions/expressions.js';
import type { StreamQueue } from '../domain/stream-queue.js';
import type { AccessEntry } from '../events/access-log/access-entry.js';
import type { AccessLog } from '../ports/access-log.js';
import type { Budgets } from '../ports/budgets.js';
import type { Clock } from '../ports/clock.js';
import type { EventChain } from '../ports/event-chain.js';
import type { EventLog, StoredLog } from '../ports/event-log.js';
import type { GenerationsInUse } from '../ports/generations.js';
import type { IntegrityKeys, KeyRing } from '../ports/key-ring.js';
import type { Random } from '../ports/random.js';
import type { Timers } from '../ports/timers.js';
import type { Traces } from '../ports/traces.js';
import type { UnitOfWork } from '../ports/unit-of-work.js';
import type { Vocabularies } from '../search/vocabulary/vocabularies.js';
import type { AuthenticClaims } from './authentic-claims.js';
import type { AuthenticDirectory } from './authentic-directory.js';
import type { AuthenticTokenRows } from './authentic-token-rows.js';
import type { Guesses } from './guesses.js';
import type { KnownCallers } from './known-callers.js';
import type { Turns } from './turns.js';

/** Through which commands record. Its memory is bounded; what does not fit while the log is down is counted and told. */
export type AccessRecorder = {
  /** Resolves when the entries are durable, with all that was recorded before. Throws StoreUnavailable. */
  now(entries: readonly AccessEntry[]): Promise<void>;
  /** Records soon: durable within milliseconds. Kept and tried again while the log cannot be written. */
  soon(entries: readonly AccessEntry[]): void;
  /** False: the last attempt to write the log failed. */
  isWritable(): boolean;
  /** Writes what is left, as far as the log takes it. */
  close(): Promise<void>;
};

/** The ports and settings that commands work with. `compose` plugs the adapters of a profile in. */
export type Vault = {
  readonly log: EventLog;
  /** The same log as its store holds it, for a verification, which names what is not authentic. */
  readonly storedLog: StoredLog;
  readonly chain: EventChain;
  readonly rows: AuthenticTokenRows;
  /** The generations of rows; searches and what rows are found by are made for those that it names. */
  readonly generations: { inUse(): Promise<GenerationsInUse> };
  readonly keys: KeyRing;
  /** Compute and verify the authentication codes of what the stores hold. */
  readonly integrity: IntegrityKeys;
  readonly claims: AuthenticClaims;
  /** What applications have used of their guesses; spent through `guesses`. */
  readonly budgets: Budgets;
  readonly directory: AuthenticDirectory;
  /** What a statement of erasure looks for. */
  readonly traces: Traces;
  /** Records what it commits (`access-log/recorded-work.ts`). */
  readonly work: UnitOfWork;
  readonly accessLog: AccessLog;
  /** Through which everything is recorded: `recordReads` for tokens that an answer shows. */
  readonly recorder: AccessRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly expressions: Expressions;
  readonly streams: StreamQueue;
  /** Everything that may compute for long does it in turns. */
  readonly turns: Turns;
  /** Streams of deletes that ended in 503, by tenant: a query finds such tokens no more, but their keys may live. */
  readonly unfinishedErasures: Map<string, Set<string>>;
  readonly knownCallers: KnownCallers;
  readonly vocabularies: Vocabularies;
  /** Every look-up by value or by many ids is charged here before its response leaves. */
  readonly guesses: Guesses;
  /**
   * Resolves when what the stores have answered since a time (`performance.now()`) was current; awaited before anything
   * leaves that was read. `hasWritten`: a durable write was acknowledged after the last of these reads. Throws
   * StoreUnavailable when it may not have been: a server that was deposed goes on answering reads for seconds.
   */
  readonly confirmReads: (since: number, hasWritten: boolean) => Promise<void>;
  /** How long a cvc may live, milliseconds: at most one hour. */
  readonly cvcRetentionMs: number;
};
