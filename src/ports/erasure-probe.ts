/** The kinds of stored entries that are derived from a token, other than its events and its keys. */
export type DerivedKind = 'row' | 'search_term' | 'fingerprint' | 'deadline';

/**
 * A table or collection that was searched. `looked` is the number of entries that were examined, and `found` is how
 * many of them belong to the token.
 */
export type Looked = {
  readonly kind: DerivedKind;
  readonly store: string;
  readonly looked: number;
  readonly found: number;
};

/**
 * The identifiers that derived entries use to refer to a token: its stream, and the positions of the events that began
 * its lives.
 */
export type ErasedToken = { readonly stream: string; readonly created: readonly number[] };

/** Searches the stores for remains of an erased token. */
export interface ErasureProbe {
  /**
   * Searches every generation of rows, including those that are not in use, and every other entry that may refer to the
   * token. Tombstones do not count, because a tombstone records only that the token is gone. The method reads all
   * search terms, and yields to other work while it reads.
   */
  of(token: ErasedToken): Promise<readonly Looked[]>;
}
