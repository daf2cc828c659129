import { z } from 'zod';
import { tokenExample } from './token-examples.js';
import { tokenObject } from './token-object.js';

const count = z.int().min(0);

/** A page of tokens (contract, section 2). */
export const tokenPage = z
  .object({
    pagination: z.object({
      total_items: count.meta({ description: 'All that the caller may see and that match.' }),
      page_number: z.int().min(1),
      page_size: z.int().min(1).max(100),
      total_pages: count,
    }),
    data: z.array(tokenObject).meta({ description: 'The later created first.' }),
  })
  .meta({ id: 'TokenPage' });

/** A page of what a search found. */
export const foundPage = tokenPage
  .extend({
    _suggestions: z
      .array(z.string())
      .optional()
      .meta({
        description:
          'When nothing was found: heads of terms that may have been meant, where no token has what a term names, such as ' +
          '`metadata.customer`, `container:/pci/high/` or `type:card_number`.',
      }),
  })
  .meta({ id: 'FoundPage' });

export const tokenPageExample = {
  pagination: { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 },
  data: [tokenExample],
};
