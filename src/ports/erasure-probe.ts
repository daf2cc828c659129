/** The kinds of entries that are derived from a token, besides its events and its keys. */
export type TraceKind = 'row' | 'search_term' | 'fingerprint' | 'deadline';

/**
 * A table or collection that was searched. `looked` is the number of entries examined; `found` is the number that
 * belong to the token.
 */
export type Looked = {
  readonly kind: TraceKind;
  readonly store: string;
  readonly looked: number;
  readonly found: number;
};

/**
 * The identifiers by which derived entries refer to a token: its stream, and the positions of the events that began
 * each of its lives.
 */
export type TracedToken = { readonly stream: string; readonly created: readonly number[] };

/** Searches the stores for remains of an erased token. */
export interface ErasureProbe {
  /**
   * Searches every generation of rows, in use or not, and every entry that may refer to the token. Tombstones do not
   * count, because a tombstone says only that the token is gone. Reads all search terms, and yields to other work while
   * it does so.
   */
  of(token: TracedToken): Promise<readonly Looked[]>;
}
