/** Fields that one text is compared with. */
export const textFields = ['id', 'type', 'data', 'fingerprint', 'created_by', 'modified_by'] as const;
export type TextField = (typeof textFields)[number];

export const dateFields = ['created_at', 'modified_at'] as const;
export type DateField = (typeof dateFields)[number];

export type FieldName = TextField | DateField | 'container' | 'metadata';

/**
 * A search as a tree; list filters become the same one. The parser makes `and` and `or` of two or more. See
 * docs/contract.md, "Search grammar".
 */
export type Query =
  | { readonly is: 'everything' }
  | { readonly is: 'and' | 'or'; readonly of: readonly Query[] }
  | { readonly is: 'not'; readonly of: Query }
  | { readonly is: 'text'; readonly field: TextField; readonly value: string }
  | { readonly is: 'metadata'; readonly key: string; readonly value: string }
  /** `path` ends with `/`; `within` covers its sub-containers too. */
  | { readonly is: 'container'; readonly path: string; readonly within: boolean }
  /** From an instant, included, to another, excluded; ms since the epoch, null: open. */
  | { readonly is: 'date'; readonly field: DateField; readonly from: number | null; readonly to: number | null };
