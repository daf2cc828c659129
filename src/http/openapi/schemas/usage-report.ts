import { z } from 'zod';
import { tokenTypes } from '../../../domain/token/token-type.js';
import { wholeNumber } from './formats.js';

/** How many tokens live (contract, section 10). */
export const usageReport = z
  .object({
    token_report: z.object({
      tokens_total: wholeNumber,
      tokens_by_type: z
        .partialRecord(z.enum(tokenTypes), wholeNumber)
        .meta({ description: 'A type without living tokens is left out.' }),
    }),
  })
  .meta({ id: 'UsageReport' });
