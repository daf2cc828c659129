/** The part of lunr 2.3 that is used here. The published types do not include the builder. */
declare module 'lunr' {
  /** A minimal automaton of words. */
  interface TokenSet {
    /** The words of both. */
    intersect(other: TokenSet): TokenSet;
    toArray(): string[];
  }

  interface TokenSetBuilder {
    readonly root: TokenSet;
    /** Words are added in the order of `Array.prototype.sort`. */
    insert(word: string): void;
    finish(): void;
  }

  const lunr: {
    readonly TokenSet: {
      readonly Builder: new () => TokenSetBuilder;
      /**
       * Returns the words within this number of changed, added, removed or swapped characters; `*` matches any
       * character.
       */
      fromFuzzyString(text: string, edits: number): TokenSet;
    };
  };
  export default lunr;
}
