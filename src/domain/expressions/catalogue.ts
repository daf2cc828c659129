import { aliasFilters } from './aliases.js';
import type { Filter } from './filter.js';
import { maskFilters } from './masks.js';
import { textFilters } from './text.js';
import { valueFilters } from './values.js';

const byName: ReadonlyMap<string, Filter> = new Map(
  [...maskFilters, ...aliasFilters, ...valueFilters, ...textFilters].map((filter) => [filter.name, filter]),
);

/**
 * The names of all filters, which are exactly those of docs/contract.md, "Filters"; no built-in filter of liquidjs is
 * included. A test checks that each filter is tested.
 * @public
 */
export const filterNames: readonly string[] = [...byName.keys()];

export function filterNamed(name: string): Filter | undefined {
  return byName.get(name);
}
