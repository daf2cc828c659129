/** The kinds of entries that are derived from a token, besides its events and its keys. */
export type TraceKind = 'row' | 'search_term' | 'fingerprint' | 'deadline';

/** A table or collection that was searched: its number of entries, and how many of them belong to the token. */
export type Looked = {
  readonly kind: TraceKind;
  readonly store: string;
  readonly looked: number;
  readonly found: number;
};

/**
 * How the derived entries of a token refer to it: by its stream, and by the positions of the events that created its
 * lives.
 */
export type TracedToken = { readonly stream: string; readonly created: readonly number[] };

/** Searches for what is left of an erased token. */
export interface ErasureProbe {
  /**
   * Searches every generation of rows, whether it is in use or not, and every entry that may refer to the token. A
   * tombstone does not count: it says only that the token ended. This reads all search terms, and yields to other work
   * in the meantime.
   */
  of(token: TracedToken): Promise<readonly Looked[]>;
}
