import { z } from 'zod';
import type { JsonObject } from '../domain/json.js';

const sizeDefault = 20;
/** The maximum number of items per page. */
export const pageSizeMax = 100;
const pageMessage = 'must be a whole number from 1';
const sizeMessage = `must be a whole number from 1 to ${pageSizeMax}`;
const pageDescription = 'The page number. Default: 1.';
const sizeDescription = `The maximum number of items per page. Default: ${sizeDefault}.`;

/**
 * The query parameters of a paginated route. The response is 400 if a value is not a whole number within its range
 * (docs/contract.md, "Pagination").
 */
export const pageQuery = {
  page: wholeNumber(Number.MAX_SAFE_INTEGER, pageMessage, 1, pageDescription),
  size: wholeNumber(pageSizeMax, sizeMessage, sizeDefault, sizeDescription),
};

/** The parameters in `pageQuery` as numeric fields of a request body. A null value counts as absent. */
export const pageFields = {
  page: bodyNumber(Number.MAX_SAFE_INTEGER, pageMessage, 1, pageDescription),
  size: bodyNumber(pageSizeMax, sizeMessage, sizeDefault, sizeDescription),
};

export type Page = { readonly page: number; readonly size: number };

/** Returns the offset and limit of a page. */
export function rangeOf({ page, size }: Page): { readonly offset: number; readonly limit: number } {
  return { offset: Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER), limit: size };
}

/** The response body for one page of a list (docs/contract.md, "Pagination"). */
export type PageAnswer = {
  readonly pagination: {
    readonly total_items: number;
    readonly page_number: number;
    readonly page_size: number;
    readonly total_pages: number;
  };
  readonly data: readonly JsonObject[];
};

/** Returns the response body for a page of a list that has `total` items. */
export function pageAnswer(page: Page, total: number, data: readonly JsonObject[]): PageAnswer {
  return { pagination: paginationOf(page, total), data };
}

/** Returns the pagination fields for a page of a list that has `total` items. */
export function paginationOf({ page, size }: Page, total: number): PageAnswer['pagination'] {
  return { total_items: total, page_number: page, page_size: size, total_pages: Math.ceil(total / size) };
}

function bodyNumber(max: number, error: string, byDefault: number, description: string) {
  return z
    .int({ error })
    .min(1, { error })
    .max(max, { error })
    .nullish()
    .transform((value) => value ?? byDefault)
    .meta({ description });
}

function wholeNumber(max: number, message: string, byDefault: number, description: string) {
  return z
    .string({ error: 'must be given at most once' })
    .refine((text) => /^\d{1,16}$/.test(text), { error: message })
    .transform(Number)
    .refine((value) => value >= 1 && value <= max, { error: message })
    .default(byDefault)
    .meta({ type: 'integer', minimum: 1, maximum: max, description });
}
