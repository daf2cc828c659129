import type { Commit, ProvenClear, ProvenEvent, StoredClear, StoredEvent } from '../events/commit.js';
import type { NewEvent } from '../events/event.js';
import { StoreProblem } from './store-problem.js';

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly positions: readonly number[] }
  /** Another writer got there first. The caller loads and decides again. */
  | { readonly outcome: 'conflict' };

/**
 * The append-only log of all events. Throws StoreUnavailable if the log is broken or unreachable. `Appended` is what an
 * append takes; `Whole` and `Clear` are what reads return, with and without ciphertexts.
 */
interface Log<Appended, Whole, Clear> {
  /**
   * Appends all events or none, after the event at `expectedRevision` (-1: the stream does not exist yet). The events
   * are durable when it resolves. `positions` are the positions of the events, as reads return them. An append without
   * events is a programming error.
   */
  append(stream: string, expectedRevision: number, appended: Appended): Promise<AppendOutcome>;
  /**
   * Returns all events of a stream in order; none if the stream does not exist. Includes every append that has
   * resolved.
   */
  readStream(stream: string): Promise<readonly Whole[]>;
  /**
   * Returns up to `limit` events of a stream from a revision on, in order. Use it for a stream that may be long: a
   * caller can append to a stream as often as it likes, with a large ciphertext each time.
   */
  readFrom(stream: string, fromRevision: number, limit: number): Promise<readonly Whole[]>;
  /** Like `readFrom`, without ciphertexts. */
  readClearFrom(stream: string, fromRevision: number, limit: number): Promise<readonly Clear[]>;
  /**
   * Returns up to `limit` events of a stream before a revision (null: from its end), newest first, without ciphertexts.
   * Includes every append that has resolved.
   */
  readNewest(stream: string, beforeRevision: number | null, limit: number): Promise<readonly Clear[]>;
  /** Returns up to `limit` events with a position after `afterPosition` (0: from the start), in order of position. */
  readAll(afterPosition: number, limit: number): Promise<readonly Whole[]>;
  /** Like `readAll`, without ciphertexts: a page is small, however large the tokens are. */
  readClear(afterPosition: number, limit: number): Promise<readonly Clear[]>;
  /** Returns the position of the newest event; 0 if the log is empty. */
  head(): Promise<number>;
}

/** The log that an adapter implements. Its results must not be trusted: `audit/authentic-log.ts` verifies them. */
export type StoredLog = Log<Commit, StoredEvent, StoredClear>;

/** The log whose events are authenticated. Reads throw ForgedLog. */
export type EventLog = Log<readonly NewEvent[], ProvenEvent, ProvenClear>;

/** Where an event is, or should be. A null `position` is unknown. */
export type EventPlace = { readonly position: number | null; readonly stream: string; readonly revision: number };

/** The log is not as this vault wrote it: another program changed its store. */
export class ForgedLog extends StoreProblem {
  readonly what: string;

  constructor(what: string) {
    super({
      check: 'log',
      says: `something other than this vault changed the log: ${what}`,
      do: 'Run `strongroom audit verify` to see what was changed, find out what can write to the store, and restore a backup',
    });
    this.name = 'ForgedLog';
    this.what = what;
  }

  /** `what` says what is wrong with the event, as the rest of a sentence. */
  static at({ position, stream, revision }: EventPlace, what: string): ForgedLog {
    const where = position === null ? '' : ` at position ${position}`;
    return new ForgedLog(`the event${where} (revision ${revision} of ${stream}) ${what}`);
  }
}
