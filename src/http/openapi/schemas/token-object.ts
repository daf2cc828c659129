import { z } from 'zod';
import type { Json } from '../../../domain/json.js';
import { tokenTypes } from '../../../domain/token/token-type.js';
import { dateTime, uuid } from './formats.js';

const anyJson = z.custom<Json>(() => true);

/** What everybody in the tenant may see of a token with the same fingerprint (contract, section 6). */
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

/** The masks of one answer share a budget of work. */
const maskSkipped = z.object({
  mask_skipped: z.literal(true).meta({
    description:
      'The masks of the other tokens of this answer left no time for this one, so it shows no data. Get it alone.',
  }),
});

/** The token object of the specification, as a caller may see it. */
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

/** What a caller gets of an equal token that it may not read. */
export const unreadToken = z
  .object({ ...alwaysShown, ...z.object(shownOfSome).partial().shape, _extras: extras })
  .meta({ id: 'UnreadToken', description: 'An equal token that the caller may not read.' });
