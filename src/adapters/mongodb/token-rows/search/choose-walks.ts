import type { Document } from 'mongodb';
import type { SearchPlan } from '../../../../ports/search-plan.js';
import { chooseDriver, type Driver, residue } from '../../../search-plan/choose-driver.js';
import type { WeighedNode } from '../../../search-plan/weighed-plan.js';
import { rowIndexes } from '../token-rows-indexes.js';
import { type DateCount, type DateNode, dateIndexes } from './date-counts.js';
import { checkedOn, rangeOf } from './filter-of.js';

/** A filter with the one index that it is written for. */
export type Walk = { readonly filter: Document; readonly hint: string };

export type Walks = {
  /** In the order of lists, or over so few rows that they are put in order. */
  readonly page: Walk;
  readonly count: Walk;
  /** The whole plan as a filter that any index can be walked with. */
  readonly checked: Document;
};

/**
 * The cheapest walks over an index that meet every match: along the rarest terms, or along a short range of dates
 * (`short`). The rest of the plan is checked on each row.
 */
export function chooseWalks(plan: SearchPlan, node: WeighedNode | 'every', short: readonly DateCount[]): Walks {
  const everything: Driver = { terms: [Buffer.from(plan.all, 'hex')], count: Number.POSITIVE_INFINITY, exactly: null };
  if (node === 'every') return alike(alongTerms(everything, null), { tenant: plan.tenantId });
  const checked = { tenant: plan.tenantId, ...checkedOn(node) };
  const driver = chooseDriver(node) ?? everything;
  const [shortest] = [...short].sort((a, b) => a.count - b.count);
  if (shortest !== undefined && shortest.count < driver.count) {
    return alike(alongDates(plan.tenantId, shortest.node, without(node, shortest.node)), checked);
  }
  const page = alongTerms(driver, residue(node, driver));
  // A range of dates alone is counted by its own index, however long it is.
  return node.is === 'date' ? { page, count: alongDates(plan.tenantId, node, null), checked } : alike(page, checked);
}

function alike(walk: Walk, checked: Document): Walks {
  return { page: walk, count: walk, checked };
}

function alongTerms({ terms }: Driver, left: WeighedNode | null): Walk {
  const [term, ...others] = terms;
  return {
    filter: { terms: others.length === 0 ? term : { $in: terms }, ...checkedOn(left) },
    hint: rowIndexes.terms,
  };
}

function alongDates(tenant: string, date: DateNode, left: WeighedNode | null): Walk {
  return { filter: { tenant, [date.column]: rangeOf(date), ...checkedOn(left) }, hint: dateIndexes[date.column] };
}

/** What is left of a node when one part of it is met; null: nothing. */
function without(node: WeighedNode, part: WeighedNode): WeighedNode | null {
  if (node === part) return null;
  return node.is === 'and' ? { is: 'and', of: node.of.filter((child) => child !== part) } : node;
}
