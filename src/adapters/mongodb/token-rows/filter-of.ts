import type { Document } from 'mongodb';
import type { WeighedNode } from '../../shared/weighed-plan.js';

/** Returns a filter that matches exactly the rows matched by the node. */
export function filterOf(node: WeighedNode): Document {
  switch (node.kind) {
    case 'term':
      return { terms: node.term };
    case 'date':
      return { [node.column]: rangeOf(node) };
    case 'not':
      return { $nor: [filterOf(node.of)] };
    case 'and':
      return { $and: node.of.map(filterOf) };
    case 'or':
      return { $or: node.of.map(filterOf) };
  }
}

/**
 * Returns the filter for a date range. A range without a start begins at the smallest number, so that a row without the
 * date never matches.
 */
export function rangeOf({ from, to }: Extract<WeighedNode, { kind: 'date' }>): Document {
  return { $gte: from ?? Number.MIN_SAFE_INTEGER, ...(to === null ? {} : { $lt: to }) };
}

/**
 * Returns a filter that the server evaluates for each row without using an index. MongoDB does not use indexes for
 * conditions under `$nor`. A search therefore has only one possible query plan, which uses the index and the terms that
 * the vault has chosen.
 */
export function checkedOn(node: WeighedNode | null): Document {
  return node === null ? {} : { $nor: [{ $nor: [filterOf(node)] }] };
}
