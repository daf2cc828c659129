import { z } from 'zod';
import type { Json } from '../domain/json.js';
import { indexesMax } from '../domain/token/fields/search-indexes.js';
import { tokenTypes } from '../domain/token/types/token-type.js';

const json = z.custom<Json>(() => true);
const text = z.string({ error: 'must be a string' });
const flag = z.boolean({ error: 'must be true or false' });
const notTexts = 'must be an array of strings';
/** Too many are refused before any is looked at. Threat: an error for each of 80,000 wrong items takes seconds. */
const indexes = z
  .custom<unknown>((value) => !Array.isArray(value) || value.length <= indexesMax, {
    error: `must hold at most ${indexesMax} expressions`,
    abort: true,
  })
  .pipe(z.array(text, { error: notTexts }).nullish());

/** The fields that creation and update share, by their JSON types alone; the domain checks the rest. */
const shared = {
  mask: json.optional().meta({ description: 'Any JSON whose strings are expressions over `data` and `metadata`.' }),
  containers: json.optional().meta({
    ...{ description: '1 to 10 paths such as `/pci/high/`; stored in lower case.' },
    ...{ type: ['array', 'null'], items: { type: 'string' } },
  }),
  metadata: json.optional().meta({
    ...{ description: 'At most 50 keys of at most 100 characters, with values of at most 1,000.' },
    ...{ type: ['object', 'null'], additionalProperties: { type: ['string', 'null'] } },
  }),
  search_indexes: indexes.optional().meta({
    ...{ description: `At most ${indexesMax} expressions over \`data\`.` },
    ...{ type: ['array', 'null'], items: { type: 'string' } },
  }),
  fingerprint_expression: text.nullish().meta({ description: 'One expression over `data` and `metadata`.' }),
  deduplicate_token: flag.nullish().meta({ description: 'For this request; by default the setting of the tenant.' }),
  expires_at: text.nullish().meta({
    description: 'ISO 8601, or `M/D/YYYY`, or `M/D/YYYY h:mm:ss AM` with an offset such as `-05:00` or without (UTC).',
  }),
};
const anObject = { error: 'must be a JSON object' };

/** The body of a create request (docs/contract.md, "Create a token"); unknown fields are ignored. */
export const createTokenBody = z.object(
  {
    id: text
      .nullish()
      .meta({ description: '3 to 400 characters, or an expression over `data`; by default a random UUID.' }),
    type: z.enum(tokenTypes, { error: `must be one of ${tokenTypes.join(', ')}` }),
    data: z
      .custom<Json>((value) => value !== undefined, { error: 'is required' })
      .meta({ description: 'Any JSON except null; each type has its own rules.' }),
    ...shared,
  },
  anObject,
);

/** The body of an update (docs/contract.md, "Update a token"); unknown fields are ignored. */
export const updateTokenBody = z.object(
  {
    id: json.optional().meta({ description: 'Cannot change: any other value is rejected.' }),
    type: json.optional().meta({ description: 'Cannot change: any other value is rejected.' }),
    data: json.optional().meta({ description: 'Merged into the data; replaced data is erased.' }),
    ...shared,
  },
  anObject,
);
