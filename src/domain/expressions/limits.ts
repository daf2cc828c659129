/** The bounds of section 5 of the contract. Sizes are bytes of UTF-8, of JSON text where the value is no text. */
export const limits = {
  sourceCharactersMax: 4_000,
  filtersMaxPerObject: 20,
  objectsMaxPerMask: 200,
  resultBytesMax: 512 * 1024,
  tokenResultBytesMax: 1024 * 1024,
  /** What filters read or make, whichever is more: one object of 20 filters over the largest value fits. */
  tokenWorkBytesMax: 12 * 1024 * 1024,
  padCharactersMax: 10_000,
  /** Brackets inside brackets: liquidjs reads them recursively, so depth is bounded before it sees them. */
  bracketDepthMax: 16,
  maskErrorsMax: 20,
} as const;
