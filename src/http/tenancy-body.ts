import { z } from 'zod';
import { applicationTypes } from '../domain/access/application-type.js';
import { tokenPermissions } from '../domain/access/permission.js';
import { transforms } from '../domain/access/transform.js';
import type { Json } from '../domain/json.js';
import { required } from './required.js';

const json = z.custom<Json>(() => true);
const text = z.string({ error: required('must be a string') });
const name = text.meta({ description: 'A human-readable name of 1 to 200 characters.' });
const unchanging = json
  .optional()
  .meta({ description: 'The type of the application. It cannot be changed: any other type returns 400.' });
const anObject = { error: 'must be a JSON object' };
const listed = { type: ['array', 'null'], minItems: 1, maxItems: 50 };
/** The schema for an access rule in a request. It only documents the rule. The domain validates it. */
const accessRule = {
  type: 'object',
  additionalProperties: false,
  required: ['container', 'transform', 'permissions'],
  properties: {
    description: { type: ['string', 'null'], description: 'A human-readable description.' },
    priority: { type: ['integer', 'null'], default: 1, description: 'Rules with a lower number are tried first.' },
    container: {
      type: 'string',
      description: 'The container that the rule covers, with its sub-containers, such as `/pci/`.',
    },
    transform: { type: 'string', enum: [...transforms], description: 'What the caller sees of the data.' },
    permissions: {
      type: 'array',
      items: { type: 'string', enum: [...tokenPermissions] },
      description: 'What the caller may do with the tokens.',
    },
  },
} as const;
const access = {
  permissions: json.optional().meta({
    ...listed,
    items: { type: 'string' },
    description:
      '1 to 50 permissions that the type may hold (`GET /permissions`). Send either `permissions` or `rules`.',
  }),
  rules: json.optional().meta({
    ...listed,
    items: accessRule,
    description: '1 to 50 access rules. Send either `rules` or `permissions`.',
  }),
};
const expiresAt = text.nullish().meta({
  description:
    'When the keys of the application stop working, in any format that a token’s `expires_at` accepts. ' +
    'Null means never.',
});
const settings = json.optional().meta({
  type: ['object', 'null'],
  additionalProperties: { enum: ['true', 'false', null] },
  description:
    '`deduplicate_tokens`, `keep_superseded_data` and `show_fingerprints`. A setting that is absent stays the same.',
});

/**
 * The request bodies for applications, keys and tenants (docs/contract.md, "Applications" and "Tenants"). These schemas
 * check only JSON types. The domain checks everything else. Unknown fields are ignored.
 */
export const createApplicationBody = z.object(
  {
    name,
    type: z
      .enum(applicationTypes, { error: `must be one of ${applicationTypes.join(', ')}` })
      .meta({ description: 'The type of the application. It determines which permissions the application may hold.' }),
    ...access,
    expires_at: expiresAt,
  },
  anObject,
);

export const updateApplicationBody = z.object({ name, type: unchanging, ...access, expires_at: expiresAt }, anObject);

export const updateTenantBody = z.object({ name, settings }, anObject);

export const deleteTenantBody = z.object(
  { name: text.meta({ description: 'The tenant’s name, as confirmation.' }) },
  anObject,
);
