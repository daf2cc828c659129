/**
 * A stored console session, or a stored one-time code that starts a session. The store cannot decrypt `sealed`. `id` is
 * the hash of the secret that the browser or the operator has.
 */
export type StoredConsoleSession = {
  readonly id: string;
  readonly sealed: Uint8Array;
  /**
   * Strings that identify the credentials that opened the session, such as the hash of a key. `removeOf` finds sessions
   * by these strings.
   */
  readonly subjects: readonly string[];
  /** The time at which the session or code expires, in milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** Console sessions and one-time codes. Every process sees a change immediately. */
export interface ConsoleSessions {
  /** Stores a new session. */
  insert(session: StoredConsoleSession): Promise<void>;
  /** Returns a session, even if it has expired. Returns null if no session with this id is stored. */
  get(id: string): Promise<StoredConsoleSession | null>;
  /** Replaces a session. If the session has been removed, returns false and does not store it again. */
  replace(session: StoredConsoleSession): Promise<boolean>;
  /** Removes and returns a session. If several callers take the same session, only one of them gets it. */
  take(id: string): Promise<StoredConsoleSession | null>;
  /** Removes every session that has at least one of these subjects, and returns the number of removed sessions. */
  removeOf(subjects: readonly string[]): Promise<number>;
  /** Removes all sessions that have this subject, except the `kept` sessions that expire last. */
  keepLatestOf(subject: string, kept: number): Promise<void>;
  /** Returns the number of stored sessions. The number may be approximate. */
  count(): Promise<number>;
  /** Removes the sessions that expired before this time (ms). */
  forget(expiredBefore: number): Promise<void>;
}
