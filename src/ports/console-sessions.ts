/**
 * A session of the console, or a code that starts one, as it is stored: a ciphertext that the store does not read. `id`
 * is the hash of the secret that the browser or the operator holds.
 */
export type StoredConsoleSession = {
  readonly id: string;
  readonly sealed: Uint8Array;
  /** What the session was opened with, such as the hash of a key. `removeOf` finds the session by it. */
  readonly subjects: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** The sessions of the console, and its one-time codes. Every process sees a change at once. */
export interface ConsoleSessions {
  /** Stores a new session. */
  insert(session: StoredConsoleSession): Promise<void>;
  /** Returns a session, whether it has expired or not; null if there is none. */
  get(id: string): Promise<StoredConsoleSession | null>;
  /** Replaces a session. Returns false if it was removed in the meantime; it then stays removed. */
  replace(session: StoredConsoleSession): Promise<boolean>;
  /** Removes and returns a session. Of several callers, only one gets it. */
  take(id: string): Promise<StoredConsoleSession | null>;
  /** Removes every session that was opened with this subject, and returns how many there were. */
  removeOf(subject: string): Promise<number>;
  /** Removes the sessions that expired before this time (ms). */
  forget(expiredBefore: number): Promise<void>;
}
