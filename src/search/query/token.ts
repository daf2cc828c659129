import type { FieldName } from './syntax-tree.js';

/** The field of a term; `key` only for metadata. */
export type Field = { readonly name: FieldName; readonly key: string | null };

export type TextValue = { readonly is: 'text'; readonly text: string; readonly quoted: boolean; readonly at: number };

/** A value as it is written; `at` is the index of its first character. */
export type Value =
  | TextValue
  | {
      readonly is: 'range';
      readonly from: TextValue;
      readonly to: TextValue;
      readonly fromIncluded: boolean;
      readonly toIncluded: boolean;
      readonly at: number;
    };

/** What the lexer makes of a query. */
export type Token =
  | { readonly is: 'open' | 'close' | 'and' | 'or' | 'not' | 'end'; readonly at: number }
  | { readonly is: 'term'; readonly field: Field; readonly value: Value; readonly at: number };
