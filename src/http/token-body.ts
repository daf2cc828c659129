import { z } from 'zod';
import { isJsonObject, type Json } from '../domain/json.js';
import { indexesMax } from '../domain/token/fields/search-indexes.js';
import { tokenTypes } from '../domain/token/types/token-type.js';
import { anObject, anyJson, text } from './body/body-fields.js';

const optional = (isOfType: (value: Json) => boolean, error: string) =>
  z.custom<Json>((value) => value == null || isOfType(value as Json), { error }).optional();
const flag = z.boolean({ error: 'must be true or false' });
const notTexts = 'must be an array of strings';
/**
 * Rejects an array with too many items before checking any of them. Threat: an attacker sends 80,000 invalid items.
 * Producing an error for each of them would take seconds.
 */
const indexes = z
  .custom<unknown>((value) => !Array.isArray(value) || value.length <= indexesMax, {
    error: `must contain at most ${indexesMax} expressions`,
    abort: true,
  })
  .pipe(z.array(text, { error: notTexts }).nullish());

/**
 * The fields that create and update requests share. The schemas check only JSON types. The domain checks everything
 * else. `metadataType` is the documented type of a value in the metadata. In an update, null removes a key.
 */
const shared = (metadataType: string | string[]) => ({
  mask: anyJson.optional().meta({
    description:
      'The mask: any JSON whose strings are expressions over `data` and `metadata`. The default depends on the type.',
  }),
  containers: optional(Array.isArray, 'must be an array of container paths').meta({
    description: '1 to 10 containers such as `/pci/high/`, stored in lower case. The default depends on the type.',
    type: ['array', 'null'],
    items: { type: 'string' },
  }),
  metadata: optional(isJsonObject, 'must be an object whose values are strings').meta({
    description: 'Non-sensitive data: at most 50 keys of at most 100 characters, with values of at most 1,000.',
    type: ['object', 'null'],
    additionalProperties: { type: metadataType },
  }),
  search_indexes: indexes.optional().meta({
    description:
      `At most ${indexesMax} expressions over \`data\` whose values find the token in a search. The default ` +
      'depends on the type.',
    type: ['array', 'null'],
    items: { type: 'string' },
  }),
  fingerprint_expression: text.nullish().meta({
    description:
      'One expression over `data` and `metadata` whose value is fingerprinted. The default depends on the type.',
  }),
  deduplicate_token: flag
    .nullish()
    .meta({ description: 'Whether this request deduplicates. Default: the tenant’s setting.' }),
  expires_at: text.nullish().meta({
    description:
      'When the token expires: ISO 8601, `M/D/YYYY` or `M/D/YYYY h:mm:ss AM`, with an offset such as `-05:00` or, ' +
      'without one, in UTC. Default: never.',
  }),
});

/** The body of a create request (docs/contract.md, "Create a token"). Unknown fields are ignored. */
export const createTokenBody = z.object(
  {
    id: text
      .nullish()
      .meta({ description: 'The id: 3 to 400 characters, or an expression over `data`. Default: a random UUID.' }),
    type: z
      .enum(tokenTypes, { error: `must be one of ${tokenTypes.join(', ')}` })
      .meta({ description: 'The type of the token. It determines which data the token accepts.' }),
    data: z
      .custom<Json>((value) => value !== undefined, { error: 'is required' })
      .meta({ description: 'The value to store: any JSON except null that the type accepts.' }),
    ...shared('string'),
  },
  anObject,
);

/** The body of an update (docs/contract.md, "Update a token"). Unknown fields are ignored. */
export const updateTokenBody = z.object(
  {
    id: anyJson
      .optional()
      .meta({ description: 'The id of the token. It cannot be changed: any other id returns 400.' }),
    type: anyJson
      .optional()
      .meta({ description: 'The type of the token. It cannot be changed: any other type returns 400.' }),
    data: anyJson
      .optional()
      .meta({ description: 'A merge patch (RFC 7386) of the data. Data that it replaces is erased.' }),
    ...shared(['string', 'null']),
  },
  anObject,
);
