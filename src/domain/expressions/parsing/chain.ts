import type { Json } from '../../json.js';

/** What an object holds before it is checked: a value piped through filters. Ours, free of liquidjs. */
export type Chain = { readonly initial: Operand; readonly filters: readonly FilterCall[] };

export type FilterCall = { readonly name: string; readonly args: readonly Operand[] };

export type Operand =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly Operand[] };

/**
 * Why an object holds no chain. `malformed` is the one that a mask may store, as null; a `range` and an
 * `unknown-variable` are refused everywhere (contract, section 5).
 */
export type ChainProblem = 'malformed' | 'range' | 'unknown-variable';
