/** The part of lunr 2.3 that Strongroom uses. The published types do not include the builder. */
declare module 'lunr' {
  /** A set of words, stored as a minimal automaton. */
  interface TokenSet {
    /** Returns the words that are in both sets. */
    intersect(other: TokenSet): TokenSet;
    toArray(): string[];
  }

  interface TokenSetBuilder {
    readonly root: TokenSet;
    /** Adds a word. Words must be added in the order of `Array.prototype.sort`. */
    insert(word: string): void;
    finish(): void;
  }

  const lunr: {
    readonly TokenSet: {
      readonly Builder: new () => TokenSetBuilder;
      /**
       * Returns the words that differ from `text` by at most `edits` edits. An edit changes, adds, removes or swaps
       * characters. `*` in `text` matches any characters.
       */
      fromFuzzyString(text: string, edits: number): TokenSet;
    };
  };
  export default lunr;
}
