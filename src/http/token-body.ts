import { z } from 'zod';
import type { Json } from '../domain/json.js';
import { tokenTypes } from '../domain/token/token-type.js';

const json = z.custom<Json>(() => true);
const text = z.string({ error: 'must be a string' });
const flag = z.boolean({ error: 'must be true or false' });
const texts = z.array(text, { error: 'must be an array of strings' });

/** The fields that creation and update share, by their JSON types alone; the domain checks the rest. */
const shared = {
  mask: json.optional(),
  containers: json.optional(),
  metadata: json.optional(),
  search_indexes: texts.nullish(),
  fingerprint_expression: text.nullish(),
  deduplicate_token: flag.nullish(),
  expires_at: text.nullish(),
};
const anObject = { error: 'must be a JSON object' };

/** The body of a create request (specification, "Create Token"); unknown fields are ignored. */
export const createTokenBody = z.object(
  {
    id: text.nullish(),
    type: z.enum(tokenTypes, { error: `must be one of ${tokenTypes.join(', ')}` }),
    data: z.custom<Json>((value) => value !== undefined, { error: 'is required' }),
    ...shared,
  },
  anObject,
);

/** The body of an update (specification, "Update Token"); unknown fields are ignored. */
export const updateTokenBody = z.object(
  { id: json.optional(), type: json.optional(), data: json.optional(), ...shared },
  anObject,
);
