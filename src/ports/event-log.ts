import type { Commit, ProvenClear, ProvenEvent, StoredClear, StoredEvent } from '../events/commit.js';
import type { NewEvent } from '../events/event.js';
import { StoreProblem } from './store-problem.js';

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly positions: readonly number[] }
  /** Another writer appended to the stream first. The caller loads the stream and decides again. */
  | { readonly outcome: 'conflict' };

/**
 * The append-only log of all events. Its methods throw StoreUnavailable if the log is broken or unreachable. `Appended`
 * is the type that `append` accepts. `Whole` is the type of an event that is read with its ciphertexts. `Clear` is the
 * type of an event that is read without its ciphertexts.
 */
interface Log<Appended, Whole, Clear> {
  /**
   * Atomically appends the events after the event at `expectedRevision`. If the stream does not exist yet,
   * `expectedRevision` is -1. The events are durable once the promise resolves. `positions` in the result contains the
   * log positions that reads will return with the events. The caller must pass at least one event.
   */
  append(stream: string, expectedRevision: number, appended: Appended): Promise<AppendOutcome>;
  /**
   * Returns all events of a stream in order, or an empty list if the stream does not exist. The result includes every
   * append that has resolved.
   */
  readStream(stream: string): Promise<readonly Whole[]>;
  /**
   * Returns up to `limit` events of a stream, in order, starting at a revision. Use this method for streams that may be
   * long. A caller can append to a stream as often as it likes, and each event can contain a large ciphertext.
   */
  readFrom(stream: string, fromRevision: number, limit: number): Promise<readonly Whole[]>;
  /** Like `readFrom`, but without ciphertexts. */
  readClearFrom(stream: string, fromRevision: number, limit: number): Promise<readonly Clear[]>;
  /**
   * Returns up to `limit` events of a stream before a revision, newest first, without ciphertexts. Pass null to begin
   * with the newest event. The result includes every append that has resolved.
   */
  readNewest(stream: string, beforeRevision: number | null, limit: number): Promise<readonly Clear[]>;
  /** Returns up to `limit` events after `afterPosition`, in order of position. Pass 0 to begin with the first event. */
  readAll(afterPosition: number, limit: number): Promise<readonly Whole[]>;
  /** Like `readAll`, but without ciphertexts, so that a page is small even if the tokens are large. */
  readClear(afterPosition: number, limit: number): Promise<readonly Clear[]>;
  /** Returns the position of the newest event, or 0 if the log is empty. */
  head(): Promise<number>;
}

/** The log implemented by an adapter. Its results are untrusted until `audit/authentic-log.ts` has verified them. */
export type StoredLog = Log<Commit, StoredEvent, StoredClear>;

/** The log with authenticated events. Reads throw ForgedLog if verification fails. */
export type EventLog = Log<readonly NewEvent[], ProvenEvent, ProvenClear>;

/** The place where an event is, or where it should be. `position` is null if it is unknown. */
export type EventPlace = { readonly position: number | null; readonly stream: string; readonly revision: number };

/** Thrown when the log differs from what this vault wrote, because something else changed the store. */
export class ForgedLog extends StoreProblem {
  readonly what: string;

  constructor(what: string) {
    super({
      check: 'log',
      says: `something other than this vault changed the log: ${what}`,
      do:
        'Run `strongroom audit verify` to see what was changed, find out what can write to the store, and ' +
        'restore a backup',
    });
    this.name = 'ForgedLog';
    this.what = what;
  }

  /**
   * Returns the error for the event at this place. `what` completes a sentence that begins with "the event", such as
   * "is missing".
   */
  static at({ position, stream, revision }: EventPlace, what: string): ForgedLog {
    const where = position === null ? '' : ` at position ${position}`;
    return new ForgedLog(`the event${where} (revision ${revision} of ${stream}) ${what}`);
  }
}
