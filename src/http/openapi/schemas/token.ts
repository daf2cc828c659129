import { z } from 'zod';
import type { Json, JsonObject } from '../../../domain/json.js';
import { tokenTypes } from '../../../domain/token/types/token-type.js';
import { dateTime, uuid } from './formats.js';

const anyJson = z.custom<Json>(() => true);

/**
 * The parts that any caller in the tenant may see of a token with the same fingerprint (docs/contract.md, "Deduplication on
 * create").
 */
const alwaysShown = {
  id: z.string().meta({ description: 'What stands for the data.' }),
  tenant_id: uuid,
  type: z.enum(tokenTypes),
  fingerprint: z
    .string()
    .optional()
    .meta({
      description:
        'Equal for equal values of one type in one tenant. Get, list, search and detokenize show it under `reveal`, or to ' +
        'every caller if the tenant sets `show_fingerprints`; a create or update also shows it if the request carried ' +
        'every value that the expression reads.',
    }),
  containers: z.array(z.string()).meta({ description: 'What access rules go by.' }),
};

const shownOfSome = {
  expires_at: dateTime.optional().meta({ description: 'From then on the token is unknown.' }),
  created_by: uuid.meta({ description: 'The application that created it.' }),
  created_at: dateTime,
  modified_by: uuid.optional().meta({ description: 'The application that changed it last.' }),
  modified_at: dateTime.optional(),
};

const extras = z.object({
  deduplicated: z.literal(true),
  cvc_ignored: z.literal(true).optional(),
});

/** The masks of one response share a budget of work. */
const maskSkipped = z.object({
  mask_skipped: z.literal(true).meta({
    description:
      'The masks of the other tokens of this answer left no time for this one, so it shows no data. Get it alone.',
  }),
});

/** The token object (docs/contract.md, "The token object"), as a caller may see it. */
export const tokenObject = z
  .object({
    ...alwaysShown,
    ...shownOfSome,
    data: anyJson.optional().meta({ description: 'Revealed or masked as the caller may see it; absent: redacted.' }),
    mask: anyJson.optional().meta({ description: 'Any JSON whose strings are expressions.' }),
    metadata: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'Nothing sensitive: no mask covers it.' }),
    search_indexes: z.array(z.string()).optional().meta({ description: 'Expressions whose values find the token.' }),
    fingerprint_expression: z.string().meta({ description: 'The expression whose value is fingerprinted.' }),
    _extras: z.union([extras, maskSkipped]).optional().meta({ description: 'What is unusual about this object.' }),
  })
  .meta({ id: 'Token' });

/** The response for an equal token that the caller may not read. */
export const unreadToken = z
  .object({ ...alwaysShown, ...z.object(shownOfSome).partial().shape, _extras: extras })
  .meta({ id: 'UnreadToken', description: 'An equal token that the caller may not read.' });

export const cardRequestExample: JsonObject = {
  type: 'card',
  data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' },
  metadata: { customer: 'c-17' },
};

export const tokenExample: JsonObject = {
  id: 'f2d07b4a-5fd6-4dd0-93d9-2b5d5b0a3f4b',
  tenant_id: '1255abe4-56ce-48c5-926e-d06322349614',
  type: 'card',
  data: { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 },
  mask: {
    number: '{{ data.number | reveal_last: 4 }}',
    expiration_month: '{{ data.expiration_month }}',
    expiration_year: '{{ data.expiration_year }}',
  },
  fingerprint: 'AfaVgHSmxkUUG1zVv3qrEqS5nneL3EBtpUEYFERzD9Ls',
  containers: ['/pci/high/'],
  metadata: { customer: 'c-17' },
  fingerprint_expression: '{{ data.number }}',
  created_by: '5dc3f473-b758-4380-b444-1bb2b9affc6a',
  created_at: '2026-01-31T12:00:00.000+00:00',
};

const count = z.int().min(0);

/** A page of tokens (docs/contract.md, "Pagination"). */
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

/** A page with a cursor. */
export const tokenStep = z
  .object({
    pagination: z.object({
      page_size: z.int().min(1).max(100).meta({ description: 'The size asked for; a page of large tokens has fewer.' }),
      next: z.string().nullable().meta({ description: 'The cursor to send as `start`; null on the last page.' }),
    }),
    data: z.array(tokenObject).meta({ description: 'The later created first.' }),
  })
  .meta({ id: 'TokenStep' });

/** A page of search results. */
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

export const tokenStepExample = { pagination: { page_size: 20, next: null }, data: tokenPageExample.data };
