/** What is derived from a token and stored beside its events and its keys. */
export type TraceKind = 'row' | 'search_term' | 'fingerprint' | 'deadline';

/** A table or collection that was looked into: at how many entries, and how many of these are of the token. */
export type Looked = {
  readonly kind: TraceKind;
  readonly store: string;
  readonly looked: number;
  readonly found: number;
};

/** What the derived entries of a token name it by: its stream, and the positions of the events that created its lives. */
export type TracedToken = { readonly stream: string; readonly created: readonly number[] };

/** Looks for what is left of a token that is gone. */
export interface Traces {
  /**
   * Looks at every generation of rows there is, whether it is read or not, and at every entry that may name the token.
   * A tombstone is none: it holds nothing but that the token ended. Takes as long as it takes to read all search
   * terms, and lets others in between.
   */
  of(token: TracedToken): Promise<readonly Looked[]>;
}
