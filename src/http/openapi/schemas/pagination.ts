import { z } from 'zod';
import type { Json, JsonObject } from '../../../domain/json.js';
import { pageAnswer } from '../../pagination.js';
import { wholeNumber } from './formats.js';

export const pagination = z
  .object({
    total_items: wholeNumber('The number of items that match all filters and that the caller may see.'),
    page_number: wholeNumber('The number of this page.', 1),
    page_size: wholeNumber('The maximum number of items per page, as requested.', 1),
    total_pages: wholeNumber('The number of pages.'),
  })
  .meta({ id: 'Pagination', description: 'The position of a page among all items.' });

/** Returns the schema for a page of items (docs/contract.md, "Pagination"). */
export function pageOf(item: z.ZodType): z.ZodType {
  return z.object({ pagination, data: z.array(item).meta({ description: 'The items of this page, newest first.' }) });
}

/** Returns an example of a first page. `item` is the only item on the page. */
export function pageExample(item: JsonObject): Json {
  return pageAnswer({ page: 1, size: 20 }, 1, [item]);
}
