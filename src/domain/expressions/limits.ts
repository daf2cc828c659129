/**
 * The bounds of expressions (docs/contract.md, "Expression limits"). Sizes are bytes of UTF-8, of JSON text where the
 * value is no text.
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
   * What filters read or make, whichever is more: four passes over the largest value, about 0.1 s of CPU with the
   * slowest filters (50 ns a byte). A masked read has no other bound on its time.
   */
  tokenWorkBytesMax: 2 * 1024 * 1024,
  /** The work of all masks of one answer together, beyond `ownWorkBytes` for each token. */
  sharedWorkBytesMax: 4 * 1024 * 1024,
  /** What each token of an answer may do whatever the others did: hundreds of times what the default masks need. */
  ownWorkBytes: 16 * 1024,
  /** To list one key of a large object takes about as long as reading so many bytes. */
  workPerKey: 8,
  /** As many as an id has. */
  aliasCharactersMax: 400,
  /** Drawing one takes about as long as reading so many bytes. */
  workPerDrawnCharacter: 16,
  padCharactersMax: 10_000,
  /** Brackets inside brackets: liquidjs reads them recursively, so depth is bounded before it sees them. */
  bracketDepthMax: 16,
  maskErrorsMax: 20,
} as const;
