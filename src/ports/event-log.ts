import type { Commit, ProvenClear, ProvenEvent, StoredClear, StoredEvent } from '../events/commit.js';
import type { NewEvent } from '../events/event.js';
import { StoreProblem } from './store-problem.js';

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly positions: readonly number[] }
  /** Another writer was first: load again and decide again. */
  | { readonly outcome: 'conflict' };

/**
 * The append-only log of all events as a store holds it. A broken or unreachable log throws StoreUnavailable. `Appended` is
 * what an append takes, `Whole` and `Clear` are what reads return, with and without what is sealed.
 */
interface Log<Appended, Whole, Clear> {
  /**
   * Appends all events or none, after the event at `expectedRevision` (-1: the stream does not exist yet). Durable
   * when it resolves. `positions` are those of the events, as every read shows them. An append without events is a programming error.
   */
  append(stream: string, expectedRevision: number, appended: Appended): Promise<AppendOutcome>;
  /** All events of a stream in order; empty when it does not exist. Sees every append that has resolved. */
  readStream(stream: string): Promise<readonly Whole[]>;
  /**
   * Up to `limit` events of a stream from a revision on, in order. The reads of a stream that may be long: a caller can
   * append to a stream as often as it likes, with a large ciphertext each time.
   */
  readFrom(stream: string, fromRevision: number, limit: number): Promise<readonly Whole[]>;
  /** As `readFrom`, without what is sealed. */
  readClearFrom(stream: string, fromRevision: number, limit: number): Promise<readonly Clear[]>;
  /**
   * Up to `limit` events of a stream before a revision (null: from its end), the newest first, without what is sealed.
   * Sees every append that has resolved.
   */
  readNewest(stream: string, beforeRevision: number | null, limit: number): Promise<readonly Clear[]>;
  /** Up to `limit` events with a position after `afterPosition` (0: from the start), in order of position. */
  readAll(afterPosition: number, limit: number): Promise<readonly Whole[]>;
  /** As `readAll`, without what is sealed: a page of it is small whatever the tokens hold. */
  readClear(afterPosition: number, limit: number): Promise<readonly Clear[]>;
  /** Position of the newest event; 0 when the log is empty. */
  head(): Promise<number>;
}

/** What an adapter implements. Nothing that it returns can be trusted: see `audit/authentic-log.ts`. */
export type StoredLog = Log<Commit, StoredEvent, StoredClear>;

/** The log whose events are authenticated. Reads throw ForgedLog. */
export type EventLog = Log<readonly NewEvent[], ProvenEvent, ProvenClear>;

/** Where an event lies, or should; `position` null: nobody knows. */
export type EventPlace = { readonly position: number | null; readonly stream: string; readonly revision: number };

/** The log is not as this vault wrote it: something else wrote to its store. */
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

  /** `what`: what is wrong with the event, as the rest of a sentence. */
  static at({ position, stream, revision }: EventPlace, what: string): ForgedLog {
    const where = position === null ? '' : ` at position ${position}`;
    return new ForgedLog(`the event${where} (revision ${revision} of ${stream}) ${what}`);
  }
}
