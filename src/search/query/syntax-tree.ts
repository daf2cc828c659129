/** The fields whose values are compared with a string. */
export const textFields = ['id', 'type', 'data', 'fingerprint', 'created_by', 'modified_by'] as const;
type TextField = (typeof textFields)[number];

export const dateFields = ['created_at', 'modified_at'] as const;
export type DateField = (typeof dateFields)[number];

/**
 * The syntax tree of a query or of the filters in a list request. When the parser creates an `and` or an `or`, it has
 * at least two parts. See docs/contract.md, "Search grammar".
 */
export type Query =
  | { readonly kind: 'everything' }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Query[] }
  | { readonly kind: 'not'; readonly of: Query }
  | { readonly kind: 'text'; readonly field: TextField; readonly value: string }
  | { readonly kind: 'metadata'; readonly key: string; readonly value: string }
  /** `path` ends in `/`. If `within` is true, the query also matches tokens in sub-containers. */
  | { readonly kind: 'container'; readonly path: string; readonly within: boolean }
  /**
   * `from` is inclusive, and `to` is exclusive. Both are in ms since the epoch. Null means that the range is open at
   * that end.
   */
  | { readonly kind: 'date'; readonly field: DateField; readonly from: number | null; readonly to: number | null };
