/**
 * The limits of expressions (docs/contract.md, "Expression limits"). Sizes are in UTF-8 bytes. The size of a value
 * other than a string is the size of its JSON.
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
   * The maximum work of a token's filters. Each filter counts the larger of the bytes that it reads and the bytes that
   * it produces. The limit allows four passes over the largest value, or about 0.1 s of CPU time with the slowest
   * filters (50 ns per byte). Nothing else limits the time of a masked read.
   */
  tokenWorkBytesMax: 2 * 1024 * 1024,
  /** The work of all masks in one response together, in addition to `ownWorkBytes` for each token. */
  sharedWorkBytesMax: 4 * 1024 * 1024,
  /** The work that is always allowed for each token in a response: hundreds of times what the default masks need. */
  ownWorkBytes: 16 * 1024,
  /** Listing one key of a large object takes about as long as reading this many bytes. */
  workPerKey: 8,
  /** The maximum length of an id. */
  aliasCharactersMax: 400,
  /** Drawing a character takes about as long as reading this many bytes. */
  workPerDrawnCharacter: 16,
  padCharactersMax: 10_000,
  /**
   * The maximum nesting depth of brackets. It is checked before parsing, because liquidjs parses brackets recursively.
   */
  bracketDepthMax: 16,
  maskErrorsMax: 20,
} as const;
