import type { ClearEvent, NewEvent, RecordedEvent } from '../events/event.js';

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly positions: readonly number[] }
  /** Another writer was first: load again and decide again. */
  | { readonly outcome: 'conflict' };

/** The append-only log of all events. A broken or unreachable log throws StoreUnavailable. */
export interface EventLog {
  /**
   * Appends all events or none, after the event at `expectedRevision` (-1: the stream does not exist yet). Durable
   * when it resolves. `positions` are those of the events, as every read shows them. An empty list of events is a programming error.
   */
  append(stream: string, expectedRevision: number, events: readonly NewEvent[]): Promise<AppendOutcome>;
  /** All events of a stream in order; empty when it does not exist. Sees every append that has resolved. */
  readStream(stream: string): Promise<readonly RecordedEvent[]>;
  /**
   * Up to `limit` events of a stream before a revision (null: from its end), the newest first, without what is sealed.
   * Sees every append that has resolved.
   */
  readNewest(stream: string, beforeRevision: number | null, limit: number): Promise<readonly ClearEvent[]>;
  /** Up to `limit` events with a position after `afterPosition` (0: from the start), in order of position. */
  readAll(afterPosition: number, limit: number): Promise<readonly RecordedEvent[]>;
  /** As `readAll`, without what is sealed: a page of it is small whatever the tokens hold. */
  readClear(afterPosition: number, limit: number): Promise<readonly ClearEvent[]>;
  /** Position of the newest event; 0 when the log is empty. */
  head(): Promise<number>;
}
