import type { Document } from 'mongodb';
import type { WeighedNode } from '../../search-plan/weighed-plan.js';

/** The filter that a row meets iff it matches a node. */
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

/** An open end is still a number, so that a row without the date is in no range. */
export function rangeOf({ from, to }: Extract<WeighedNode, { is: 'date' }>): Document {
  return { $gte: from ?? Number.MIN_SAFE_INTEGER, ...(to === null ? {} : { $lt: to }) };
}

/**
 * A filter that is checked on each row and never by an index: the server plans nothing under `$nor`. So a search has
 * one plan alone, by the index and the terms that were chosen for it.
 */
export function checkedOn(node: WeighedNode | null): Document {
  return node === null ? {} : { $nor: [{ $nor: [filterOf(node)] }] };
}
