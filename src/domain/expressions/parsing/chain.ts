import type { Json } from '../../json.js';

/** What an object holds before it is checked: a value piped through filters. Ours, free of liquidjs. */
export type Chain = { readonly initial: Operand; readonly filters: readonly FilterCall[] };

export type FilterCall = { readonly name: string; readonly args: readonly Operand[] };

export type Operand =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly Operand[] };

/** What an object reads: a variable, from a path of literal keys on. */
export type Read = { readonly variable: string; readonly path: readonly Json[] };

/** Everything that a chain reads. A path that is computed counts from its last literal key on. */
export function readsOf({ initial, filters }: Chain): readonly Read[] {
  return [initial, ...filters.flatMap(({ args }) => args)].flatMap(readsOfOperand);
}

function readsOfOperand(operand: Operand): readonly Read[] {
  if (operand.kind === 'literal') return [];
  const { name, path } = operand;
  const computed = path.findIndex((step) => step.kind !== 'literal');
  const literal = path
    .slice(0, computed === -1 ? path.length : computed)
    .flatMap((step) => (step.kind === 'literal' ? [step.value] : []));
  return [{ variable: name, path: literal }, ...path.flatMap(readsOfOperand)];
}

/**
 * Why an object holds no chain. `malformed` is the one that a mask may store, as null; a `range` and an
 * `unknown-variable` are refused everywhere (contract, section 5).
 */
export type ChainProblem = 'malformed' | 'range' | 'unknown-variable';
