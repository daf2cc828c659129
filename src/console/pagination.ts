import { z } from 'zod';
import type { Page } from '../http/pagination.js';
import type { Visit } from './page.js';

/** The field of a form or a query string that contains the number of a page. The first page has the number 1. */
export const pageField = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, { error: 'must be the number of a page' })
  .default('1')
  .transform(Number);

const pageQuery = z.object({ page: pageField });

/** Returns the number of the page that the query string asks for. */
export function pageNumber(visit: Visit): number {
  return visit.query(pageQuery).page;
}

/** The links between the pages of a list. `partials/pagination.liquid` renders them. */
export type PageLinks = {
  readonly page: number;
  readonly pages: number;
  readonly total: number;
  /**
   * The numbers of the first and the last item on the page. Items are numbered from 1. Both numbers are 0 if the list
   * is empty.
   */
  readonly first: number;
  readonly last: number;
  readonly previous: number | null;
  readonly next: number | null;
};

/** Returns the links for one page of a list with `total` items. Pages are numbered from 1. */
export function pageLinks({ page, size }: Page, total: number): PageLinks {
  const pages = Math.max(1, Math.ceil(total / size));
  const first = (page - 1) * size + 1;
  const isBeyond = first > total;
  return {
    page,
    pages,
    total,
    first: isBeyond ? 0 : first,
    last: isBeyond ? 0 : Math.min(total, page * size),
    previous: page > 1 ? Math.min(page - 1, pages) : null,
    next: page < pages ? page + 1 : null,
  };
}
