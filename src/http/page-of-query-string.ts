import type { PageNumber } from '../commands/tokens/token-page.js';
import { pageLimits, pageMessages } from './page-limits.js';
import { Problem } from './problem.js';
import type { QueryString } from './query-string.js';

/** `page` and `size` of a query string; anything but integers in their limits is 400 (contract, section 2). */
export function pageOfQueryString(query: QueryString): PageNumber {
  const page = integerOf(query, 'page', Number.MAX_SAFE_INTEGER);
  const size = integerOf(query, 'size', pageLimits.sizeMax);
  if (page !== null && size !== null) return { page, size };
  throw new Problem('validation_failed', {
    ...(page === null ? { page: [pageMessages.page] } : {}),
    ...(size === null ? { size: [pageMessages.size] } : {}),
  });
}

function integerOf(query: QueryString, name: 'page' | 'size', max: number): number | null {
  const given = query[name];
  if (given === undefined) return pageLimits.default[name];
  if (typeof given !== 'string' || !/^\d{1,16}$/.test(given)) return null;
  const number = Number(given);
  return number >= 1 && number <= max ? number : null;
}
