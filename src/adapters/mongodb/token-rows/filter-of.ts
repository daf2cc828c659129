import type { Document } from 'mongodb';
import type { WeighedNode } from '../../search-plan/weighed-plan.js';

/** Returns the filter that matches a row if and only if the row matches the node. */
export function filterOf(node: WeighedNode): Document {
  switch (node.is) {
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
 * Returns the filter for a date range. An open start becomes a number, so that a row without the date is not in any
 * range.
 */
export function rangeOf({ from, to }: Extract<WeighedNode, { is: 'date' }>): Document {
  return { $gte: from ?? Number.MIN_SAFE_INTEGER, ...(to === null ? {} : { $lt: to }) };
}

/**
 * Returns a filter that the server checks on each row and never uses an index for, because it does not plan anything
 * under `$nor`. So a search has only one possible plan, with the index and terms that we choose.
 */
export function checkedOn(node: WeighedNode | null): Document {
  return node === null ? {} : { $nor: [{ $nor: [filterOf(node)] }] };
}
