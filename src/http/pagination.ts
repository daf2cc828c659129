import { type Checked, errorsOf, valid } from '../domain/field-errors.js';
import { wholeNumberOf } from './query.js';

/** Which page of a list is asked for (contract, section 2). */
export type PageNumber = { readonly number: number; readonly size: number };

const sizeMax = 100;
const sizeDefault = 20;

/** `page` from 1, `size` from 1 to 100. */
export function pageOf(query: Readonly<Record<string, unknown>>): Checked<PageNumber> {
  const number = wholeNumberOf(query, 'page', { default: 1, max: Number.MAX_SAFE_INTEGER });
  const size = wholeNumberOf(query, 'size', { default: sizeDefault, max: sizeMax });
  if (number.ok && size.ok) return valid({ number: number.value, size: size.value });
  return { ok: false, errors: errorsOf([number, size]) ?? {} };
}

/** Where a page begins and how long it is. */
export function rangeOf({ number, size }: PageNumber): { readonly offset: number; readonly limit: number } {
  // Far past the end of anything, and still a number that a store takes.
  return { offset: Math.min((number - 1) * size, 2 ** 50), limit: size };
}

/** The body of a paginated answer. */
export function pageBody<T>({ number, size }: PageNumber, total: number, data: readonly T[]) {
  const pagination = {
    total_items: total,
    page_number: number,
    page_size: size,
    total_pages: Math.ceil(total / size),
  };
  return { pagination, data };
}
