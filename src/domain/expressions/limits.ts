/**
 * The limits of expressions (docs/contract.md, "Expression limits"). Sizes are in bytes of UTF-8. The size of a value
 * that is not a text is that of its JSON.
 */
export const limits = {
  sourceCharactersMax: 4_000,
  filtersMaxPerObject: 20,
  objectsMaxPerMask: 200,
  /** The number of values in a mask, at any depth. */
  maskNodesMax: 10_000,
  resultBytesMax: 512 * 1024,
  tokenResultBytesMax: 1024 * 1024,
  /**
   * The larger of what a token's filters read and produce. It allows four passes over the largest value, about 0.1 s of
   * CPU time with the slowest filters (50 ns per byte). Nothing else limits the time of a masked read.
   */
  tokenWorkBytesMax: 2 * 1024 * 1024,
  /** The work of all masks in one response together, beyond `ownWorkBytes` for each token. */
  sharedWorkBytesMax: 4 * 1024 * 1024,
  /** The work that each token in a response may always do. It is hundreds of times what the default masks need. */
  ownWorkBytes: 16 * 1024,
  /** Listing one key of a large object takes about as long as reading this many bytes. */
  workPerKey: 8,
  /** The maximum length of an id. */
  aliasCharactersMax: 400,
  /** Drawing a character takes about as long as reading this many bytes. */
  workPerDrawnCharacter: 16,
  padCharactersMax: 10_000,
  /** The maximum depth of nested brackets. It is checked first, because liquidjs parses brackets recursively. */
  bracketDepthMax: 16,
  maskErrorsMax: 20,
} as const;
