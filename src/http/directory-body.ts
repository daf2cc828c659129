import { z } from 'zod';
import { applicationTypes } from '../domain/access/application-type.js';
import type { Json } from '../domain/json.js';

const json = z.custom<Json>(() => true);
const text = z.string({ error: 'must be a string' });
const name = text.meta({ description: '1 to 200 characters.' });
const unchanging = json.optional().meta({ description: 'Cannot change: any other value is rejected.' });
const anObject = { error: 'must be a JSON object' };
const listed = { type: ['array', 'null'], minItems: 1, maxItems: 50 };
const access = {
  permissions: json.optional().meta({
    ...{ ...listed, items: { type: 'string' } },
    description: '1 to 50 permissions that its type may hold (`GET /permissions`). Give either these or `rules`.',
  }),
  rules: json.optional().meta({
    ...{ ...listed, items: { type: 'object' } },
    description:
      'Access rules with `container`, `transform`, `permissions`, and optional `priority` (1) and `description`.',
  }),
};
const expiresAt = text.nullish().meta({ description: 'A time in the future, as for a token; null: never.' });
const settings = json.optional().meta({
  ...{ type: ['object', 'null'], additionalProperties: { enum: ['true', 'false', null] } },
  description:
    '`deduplicate_tokens`, `keep_superseded_data` and `show_fingerprints`; a setting that is not given keeps its value.',
});

/**
 * The bodies of applications, keys and tenants (docs/contract.md, "Applications" and "Tenants") by their JSON types
 * alone; the domain checks the rest. Unknown fields are ignored.
 */
export const createApplicationBody = z.object(
  {
    name,
    type: z.enum(applicationTypes, { error: `must be one of ${applicationTypes.join(', ')}` }),
    ...access,
    expires_at: expiresAt,
  },
  anObject,
);

export const updateApplicationBody = z.object({ name, type: unchanging, ...access, expires_at: expiresAt }, anObject);

export const updateTenantBody = z.object({ name, settings }, anObject);

export const deleteTenantBody = z.object(
  { name: text.meta({ description: 'The name of the tenant, repeated.' }) },
  anObject,
);
