import type { TokenType } from './types/token-type.js';

/** A card verification code that still exists: its key, and the revision of the event that encrypted it. */
export type CvcState = {
  readonly key: string;
  readonly revision: number;
  /**
   * The time when the code is due to be purged, in milliseconds since the epoch. From that time on, the code is never
   * returned. An update that keeps the code does not change this time.
   */
  readonly purgeAt: number;
};

/**
 * One life of a token, from its creation to its deletion or expiry. If a new token is created with the same id, a new
 * life begins.
 */
export type TokenLife = {
  readonly tenantId: string;
  readonly tokenType: TokenType;
  /** The revision and position of the event that created the token. */
  readonly createdRevision: number;
  readonly createdPosition: number;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly modifiedAt: number | null;
  readonly modifiedBy: string | null;
  readonly expiresAt: number | null;
  /** The key of the content, and the revision of the event that encrypted the content. */
  readonly key: string;
  readonly contentRevision: number;
  /** Keys of replaced data that are kept until the token is deleted or expires (`keep_superseded_data`). */
  readonly superseded: readonly string[];
  readonly cvc: CvcState | null;
};

/** A key marked for destruction by an event, and the id of that event. Erasure must destroy the key. */
export type EndedKeyState = { readonly keyId: string; readonly eventId: string };

export type TokenState = {
  /** The revision of the newest event in the stream, or -1 if the stream is empty. */
  readonly revision: number;
  /** Null if the token was never created, was deleted, or has expired. */
  readonly life: TokenLife | null;
  /**
   * Every key marked for destruction by an event in the stream, in the current life or an earlier life. Some of these
   * keys might not have been destroyed yet.
   */
  readonly ended: readonly EndedKeyState[];
};

export const noToken: TokenState = { revision: -1, life: null, ended: [] };

/** Returns whether a token has expired at `now`, even if its expiry has not been recorded yet. */
export function isExpired(life: TokenLife, now: number): boolean {
  return life.expiresAt !== null && now >= life.expiresAt;
}

/** Returns the cvc if it may still be used at `now`. Otherwise, returns null. */
export function cvcAt(life: TokenLife, now: number): CvcState | null {
  return life.cvc !== null && now < life.cvc.purgeAt ? life.cvc : null;
}

/** Returns the keys of one life of a token, except those that an event has marked for destruction. */
export function keysOf(life: TokenLife): readonly string[] {
  return [life.key, ...life.superseded, ...(life.cvc === null ? [] : [life.cvc.key])];
}

/**
 * Completes the state after its events have been stored. If one of these events began a life, adds the position of that
 * event. The position is known only after the append. `positions` are the positions of the events after
 * `expectedRevision`.
 */
export function withCreatedPosition(
  state: TokenState,
  expectedRevision: number,
  positions: readonly number[],
): TokenState {
  const createdPosition = positions[(state.life?.createdRevision ?? -1) - expectedRevision - 1];
  if (state.life === null || createdPosition === undefined) return state;
  return { ...state, life: { ...state.life, createdPosition } };
}
