import { z } from 'zod';
import type { Json, JsonObject } from '../../../domain/json.js';
import { tokenTypes } from '../../../domain/token/types/token-type.js';
import { dateTime, uuid } from './formats.js';
import { pagination } from './pagination.js';

const anyJson = z.custom<Json>(() => true);

const extras = z.object({
  deduplicated: z.literal(true).optional().meta({
    description: 'A live token with the same fingerprint already existed, and this is that token.',
  }),
  cvc_ignored: z.literal(true).optional().meta({
    description: 'The request contained a verification code, which was not stored because the token already existed.',
  }),
  mask_skipped: z
    .literal(true)
    .optional()
    .meta({
      description:
        'The masks of the other tokens in this response used up its mask budget, so this token shows no data. Get ' +
        'this token on its own.',
    }),
});

/**
 * The token object (docs/contract.md, "The token object"). One schema describes every response. Only the identifying
 * fields are required. If a create request finds an equal token that the caller may not read, the response contains
 * only these fields (docs/contract.md, "Deduplication on create").
 */
export const tokenObject = z
  .object({
    id: z.string().meta({ description: 'The id of the token, unique in its tenant.' }),
    tenant_id: uuid('The tenant that owns the token.'),
    type: z
      .enum(tokenTypes)
      .meta({ description: 'The type of the token. It determines which data the token accepts.' }),
    data: anyJson.optional().meta({
      description: 'The data as the caller may see it: as stored, or masked. Absent if the caller may see none of it.',
    }),
    mask: anyJson.optional().meta({
      description: 'The mask: any JSON whose strings are expressions. Absent if the token has none.',
    }),
    fingerprint: z
      .string()
      .optional()
      .meta({
        description:
          'Within a tenant, equal values of the same type have equal fingerprints. Get, list, search and ' +
          'detokenize show the fingerprint to callers with the transform `reveal`, or to every caller if the ' +
          'tenant sets `show_fingerprints`. A create or update also shows it if the request contained every ' +
          'value that the expression reads.',
      }),
    containers: z.array(z.string()).meta({ description: 'The containers of the token, to which access rules apply.' }),
    metadata: z.record(z.string(), z.string()).optional().meta({
      description:
        'Non-sensitive key-value pairs from the caller, which are never masked. Absent if the token has none.',
    }),
    search_indexes: z.array(z.string()).optional().meta({
      description: 'Expressions whose values find the token in a search. Absent if the token has none.',
    }),
    fingerprint_expression: z
      .string()
      .optional()
      .meta({
        description:
          'The expression whose value is fingerprinted. Absent only in a deduplicated token that the caller may not ' +
          'read.',
      }),
    entity_ref: z
      .string()
      .optional()
      .meta({
        description:
          'A keyed hash of the id, which identifies the token in the access log and in webhooks. Absent only in a ' +
          'deduplicated token that the caller may not read.',
      }),
    expires_at: dateTime('When the token expires. Absent if it never does.').optional(),
    created_by: uuid(
      'The application that created the token. Absent only in a deduplicated token that the caller may not read.',
    ).optional(),
    created_at: dateTime(
      'When the token was created. Absent only in a deduplicated token that the caller may not read.',
    ).optional(),
    modified_by: uuid('The application that changed the token last. Absent before the first change.').optional(),
    modified_at: dateTime('When the token was last changed. Absent before the first change.').optional(),
    _extras: extras.optional().meta({
      description: 'Remarks about this response, such as that the token already existed. Absent if there are none.',
    }),
  })
  .meta({
    id: 'Token',
    description:
      'The parts of a token that the caller may see. A create or update that is deduplicated onto a token that ' +
      'the caller may not read returns only its id, tenant, type, containers and `_extras`. It also returns the ' +
      'fingerprint if the request contained the value and, after an update, the times and authors.',
  });

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
  entity_ref: 'b7c0f0f4a1f3d2c4e5b6978812ab34cd56ef78901a2b3c4d5e6f708192a3b4c5',
  created_by: '5dc3f473-b758-4380-b444-1bb2b9affc6a',
  created_at: '2026-01-31T12:00:00.000+00:00',
};

/** A page of tokens (docs/contract.md, "Pagination"). */
export const tokenPage = z
  .object({
    pagination,
    data: z.array(tokenObject).meta({ description: 'The tokens of this page, newest first.' }),
  })
  .meta({ id: 'TokenPage', description: 'A page of tokens.' });

/** A page of tokens with a cursor. */
export const tokenStep = z
  .object({
    pagination: z
      .object({
        page_size: z
          .int()
          .min(1)
          .max(100)
          .meta({ description: 'The page size that was requested. A page may have fewer items.' }),
        next: z.string().nullable().meta({ description: 'The cursor to send as `start`. Null on the last page.' }),
      })
      .meta({ description: 'The position of the page.' }),
    data: z.array(tokenObject).meta({ description: 'The tokens, newest first.' }),
  })
  .meta({ id: 'TokenCursorPage', description: 'A page of tokens, with the cursor for the next page.' });

/** A page of search results. */
export const foundPage = tokenPage
  .extend({
    _suggestions: z
      .array(z.string())
      .optional()
      .meta({
        description:
          'Suggested beginnings of terms, such as `metadata.customer`, `container:/pci/high/` or ' +
          '`type:card_number`. Present only if the search found nothing because a term names something that no ' +
          'token has.',
      }),
  })
  .meta({ id: 'FoundPage', description: 'A page of tokens that a search found.' });

export const tokenPageExample = {
  pagination: { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 },
  data: [tokenExample],
};

export const tokenStepExample = { pagination: { page_size: 20, next: null }, data: tokenPageExample.data };
