import type { WeighedNode } from './weighed-plan.js';

type Term = Extract<WeighedNode, { is: 'term' }>;

/** The terms whose postings are walked: every match has one of them. `count` bounds how many postings that is. */
export type Driver = { readonly terms: readonly Buffer[]; readonly count: number };

/** The cheapest walk that meets every match; null when only a walk over all tokens does. */
export function chooseDriver(node: WeighedNode): Driver | null {
  switch (node.is) {
    case 'term':
      return { terms: [node.term], count: node.count };
    case 'and':
      return node.of.map(chooseDriver).reduce(cheaper, null);
    case 'or': {
      const drivers = node.of.map(chooseDriver).filter((driver) => driver !== null);
      if (drivers.length < node.of.length) return null;
      return {
        terms: unique(drivers.flatMap(({ terms }) => terms)),
        count: drivers.reduce((sum, { count }) => sum + count, 0),
      };
    }
    default:
      return null;
  }
}

/** What is left to check of a posting of the driver: nothing, when the driver is the whole plan. */
export function residue(node: WeighedNode, { terms: [term, ...others] }: Driver): WeighedNode | null {
  if (term === undefined || others.length > 0) return node;
  const isDriver = (child: WeighedNode): boolean => child.is === 'term' && child.term.equals(term);
  if (isDriver(node)) return null;
  if (node.is !== 'and') return node;
  const of = node.of.filter((child) => !isDriver(child));
  const [first] = of;
  if (first === undefined) return null;
  return of.length === 1 ? first : { is: 'and', of };
}

function cheaper(one: Driver | null, other: Driver | null): Driver | null {
  if (one === null || other === null) return one ?? other;
  return other.count < one.count ? other : one;
}

function unique(terms: readonly Term['term'][]): Buffer[] {
  return [...new Map(terms.map((term) => [term.toString('latin1'), term])).values()];
}
