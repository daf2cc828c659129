import { aliasFilters } from './aliases.js';
import type { Filter } from './filter.js';
import { maskFilters } from './masks.js';
import { textFilters } from './text.js';
import { valueFilters } from './values.js';

const byName: ReadonlyMap<string, Filter> = new Map(
  [...maskFilters, ...aliasFilters, ...valueFilters, ...textFilters].map((filter) => [filter.name, filter]),
);

/**
 * The names of all filters, exactly as listed in docs/contract.md, "Filters". No built-in liquidjs filters are
 * included. A test checks that every filter is tested.
 * @public
 */
export const filterNames: readonly string[] = [...byName.keys()];

export function filterNamed(name: string): Filter | undefined {
  return byName.get(name);
}
