/**
 * The limits of expressions (docs/contract.md, "Expression limits"). Sizes are bytes of UTF-8; for a value that is not
 * a text, of its JSON.
 */
export const limits = {
  sourceCharactersMax: 4_000,
  filtersMaxPerObject: 20,
  objectsMaxPerMask: 200,
  /** Values of a mask, at any depth. */
  maskNodesMax: 10_000,
  resultBytesMax: 512 * 1024,
  tokenResultBytesMax: 1024 * 1024,
  /**
   * What filters read or produce, whichever is more: four passes over the largest value, about 0.1 s of CPU time with
   * the slowest filters (50 ns per byte). The time of a masked read has no other limit.
   */
  tokenWorkBytesMax: 2 * 1024 * 1024,
  /** The work of all masks of one response together, beyond `ownWorkBytes` for each token. */
  sharedWorkBytesMax: 4 * 1024 * 1024,
  /** The work of each token of a response, whatever the others used: hundreds of times what the default masks need. */
  ownWorkBytes: 16 * 1024,
  /** Listing one key of a large object takes about as long as reading this many bytes. */
  workPerKey: 8,
  /** The longest id. */
  aliasCharactersMax: 400,
  /** Drawing a character takes about as long as reading this many bytes. */
  workPerDrawnCharacter: 16,
  padCharactersMax: 10_000,
  /** Nested brackets. liquidjs parses them recursively, so the depth is checked first. */
  bracketDepthMax: 16,
  maskErrorsMax: 20,
} as const;
