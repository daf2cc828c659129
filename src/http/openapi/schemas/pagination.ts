import { z } from 'zod';
import type { Json, JsonObject } from '../../../domain/json.js';
import { pageAnswer } from '../../pagination.js';
import { wholeNumber } from './formats.js';

const pagination = z
  .object({
    total_items: wholeNumber,
    page_number: wholeNumber,
    page_size: wholeNumber,
    total_pages: wholeNumber,
  })
  .meta({ id: 'Pagination' });

/** Returns the schema of a page of items (docs/contract.md, "Pagination"). */
export function pageOf(item: z.ZodType): z.ZodType {
  return z.object({ pagination, data: z.array(item) });
}

/** Returns an example of a first page that contains only this item. */
export function pageExample(item: JsonObject): Json {
  return pageAnswer({ page: 1, size: 20 }, 1, [item]);
}
