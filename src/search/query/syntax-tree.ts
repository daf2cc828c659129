/** The fields that are compared with a text. */
export const textFields = ['id', 'type', 'data', 'fingerprint', 'created_by', 'modified_by'] as const;
export type TextField = (typeof textFields)[number];

export const dateFields = ['created_at', 'modified_at'] as const;
export type DateField = (typeof dateFields)[number];

export type FieldName = TextField | DateField | 'container' | 'metadata';

/**
 * A search as a syntax tree; list filters become one, too. The parser creates `and` and `or` only with two or more
 * parts. See docs/contract.md, "Search grammar".
 */
export type Query =
  | { readonly is: 'everything' }
  | { readonly is: 'and' | 'or'; readonly of: readonly Query[] }
  | { readonly is: 'not'; readonly of: Query }
  | { readonly is: 'text'; readonly field: TextField; readonly value: string }
  | { readonly is: 'metadata'; readonly key: string; readonly value: string }
  /** `path` ends with `/`; `within` includes its sub-containers. */
  | { readonly is: 'container'; readonly path: string; readonly within: boolean }
  /** `from` is included and `to` is excluded; ms since the epoch, null for an open end. */
  | { readonly is: 'date'; readonly field: DateField; readonly from: number | null; readonly to: number | null };
