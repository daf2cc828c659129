/**
 * The limits for expressions (docs/contract.md, "Expression limits"). Sizes are in UTF-8 bytes. If a value is not a
 * string, its size is the size of its JSON.
 */
export const limits = {
  sourceCharactersMax: 4_000,
  filtersMaxPerObject: 20,
  objectsMaxPerMask: 200,
  /** The maximum number of values in a mask, counted at all depths. */
  maskNodesMax: 10_000,
  resultBytesMax: 512 * 1024,
  tokenResultBytesMax: 1024 * 1024,
  /**
   * The maximum work that a token's filters may do. The work of a filter is the number of bytes that it reads or the
   * number of bytes that it produces, whichever is larger. The limit allows four passes over the largest value, which
   * take about 0.1 s of CPU time with the slowest filters (50 ns per byte). Nothing else limits how long a masked read
   * takes.
   */
  tokenWorkBytesMax: 2 * 1024 * 1024,
  /** The maximum work that all masks in one response may do together, in addition to `ownWorkBytes` for each token. */
  sharedWorkBytesMax: 4 * 1024 * 1024,
  /**
   * The work that is always allowed for each token in a response. The default masks need less than a hundredth of it.
   */
  ownWorkBytes: 16 * 1024,
  /**
   * The work that is charged for each key of a large object. Listing a key takes about as long as reading this number
   * of bytes.
   */
  workPerKey: 8,
  /** An alias is drawn only for text up to this length, which is the maximum length of an id. */
  aliasCharactersMax: 400,
  /**
   * The work that is charged for each random character. Drawing a character takes about as long as reading this number
   * of bytes.
   */
  workPerDrawnCharacter: 16,
  padCharactersMax: 10_000,
  /**
   * The maximum nesting depth of brackets. It is checked before parsing, because liquidjs parses brackets recursively.
   */
  bracketDepthMax: 16,
  maskErrorsMax: 20,
} as const;
