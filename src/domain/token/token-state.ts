import type { TokenType } from './types/token-type.js';

/** A card verification code that still exists: the key it lies under and the event that sealed it. */
export type CvcState = {
  readonly key: string;
  readonly revision: number;
  /** Milliseconds since the epoch: it is never returned from then on, and never by a later edit. */
  readonly purgeAt: number;
};

/** One life of a token, from its creation to its deletion or expiry. A freed id may be taken again: the next life. */
export type TokenLife = {
  readonly tenantId: string;
  readonly tokenType: TokenType;
  /** Revision and position of the event that created it. */
  readonly createdRevision: number;
  readonly createdPosition: number;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly modifiedAt: number | null;
  readonly modifiedBy: string | null;
  readonly expiresAt: number | null;
  /** Key and revision that the content is sealed with. */
  readonly key: string;
  readonly contentRevision: number;
  /** Keys of replaced data that the tenant keeps until the token ends (`keep_superseded_data`). */
  readonly superseded: readonly string[];
  readonly cvc: CvcState | null;
};

/** A key that an event ended, and that event: what erasure must have destroyed. */
export type EndedKeyState = { readonly keyId: string; readonly eventId: string };

export type TokenState = {
  /** Of the newest event of the stream; -1 when there is none. */
  readonly revision: number;
  /** null: never created, deleted or expired. */
  readonly life: TokenLife | null;
  /** Every key that an event of the stream ended, of earlier lives too: a new life must know which still live. */
  readonly ended: readonly EndedKeyState[];
};

export const noToken: TokenState = { revision: -1, life: null, ended: [] };

/** A token is gone from the instant of its expiry, whether or not anybody has recorded that yet. */
export function isExpired(life: TokenLife, now: number): boolean {
  return life.expiresAt !== null && now >= life.expiresAt;
}

/** The cvc that may still be used at `now`, or null. */
export function cvcAt(life: TokenLife, now: number): CvcState | null {
  return life.cvc !== null && now < life.cvc.purgeAt ? life.cvc : null;
}

/** All living keys of a life. */
export function keysOf(life: TokenLife): readonly string[] {
  return [life.key, ...life.superseded, ...(life.cvc === null ? [] : [life.cvc.key])];
}
