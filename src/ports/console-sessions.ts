/**
 * A stored console session, or a stored one-time code that starts one. The store cannot read the ciphertext. `id` is
 * the hash of the secret that the browser or the operator has.
 */
export type StoredConsoleSession = {
  readonly id: string;
  readonly sealed: Uint8Array;
  /**
   * The credentials that opened the session, such as the hash of a key. `removeOf` finds sessions by their subjects.
   */
  readonly subjects: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** Console sessions and one-time codes. Every process sees a change immediately. */
export interface ConsoleSessions {
  /** Stores a new session. */
  insert(session: StoredConsoleSession): Promise<void>;
  /** Returns a session, even if it has expired, or null if there is none. */
  get(id: string): Promise<StoredConsoleSession | null>;
  /**
   * Replaces a session. Returns false if the session has been removed in the meantime. In that case, it stays removed.
   */
  replace(session: StoredConsoleSession): Promise<boolean>;
  /** Removes and returns a session. If several callers take the same session, only one of them gets it. */
  take(id: string): Promise<StoredConsoleSession | null>;
  /** Removes every session that has this subject, and returns the number of removed sessions. */
  removeOf(subject: string): Promise<number>;
  /** Removes the sessions that expired before this time (ms). */
  forget(expiredBefore: number): Promise<void>;
}
