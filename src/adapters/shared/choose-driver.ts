import type { WeighedNode } from './weighed-plan.js';

/**
 * The terms whose postings a search walks. Every match has at least one of these terms. `count` is an upper bound on
 * the number of these postings.
 */
export type Driver = {
  readonly terms: readonly Buffer[];
  readonly count: number;
  /**
   * The part of the plan that every walked posting satisfies, or null if there is no such part. The search does not
   * have to check this part again.
   */
  readonly exactly: WeighedNode | null;
};

/**
 * Returns the cheapest walk that covers every match. Returns null if covering every match requires a walk over all
 * tokens.
 */
export function chooseDriver(node: WeighedNode): Driver | null {
  switch (node.kind) {
    case 'term':
      return { terms: [node.term], count: node.count, exactly: node };
    case 'and':
      return node.of.map(chooseDriver).reduce(cheaper, null);
    case 'or': {
      const drivers = node.of.map(chooseDriver).filter((driver) => driver !== null);
      if (drivers.length < node.of.length) return null;
      return {
        terms: unique(drivers.flatMap(({ terms }) => terms)),
        count: drivers.reduce((sum, { count }) => sum + count, 0),
        exactly: drivers.every(({ exactly }, i) => exactly === node.of[i]) ? node : null,
      };
    }
    default:
      return null;
  }
}

/**
 * Returns the part of the plan that must still be checked for tokens that satisfy the part `satisfied`. Returns null if
 * `satisfied` is the whole plan.
 */
export function residue(node: WeighedNode, satisfied: WeighedNode | null): WeighedNode | null {
  if (node === satisfied) return null;
  if (node.kind !== 'and') return node;
  const of = node.of.filter((child) => child !== satisfied);
  const [first] = of;
  return of.length === 1 && first !== undefined ? first : { kind: 'and', of };
}

function cheaper(one: Driver | null, other: Driver | null): Driver | null {
  if (one === null || other === null) return one ?? other;
  return other.count < one.count ? other : one;
}

function unique(terms: readonly Buffer[]): Buffer[] {
  return [...new Map(terms.map((term) => [term.toString('latin1'), term])).values()];
}
