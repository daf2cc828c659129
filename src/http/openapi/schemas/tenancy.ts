import { z } from 'zod';
import { applicationTypes } from '../../../domain/access/application-type.js';
import { managementPermissions, tokenPermissions } from '../../../domain/access/permission.js';
import { transforms } from '../../../domain/access/transform.js';
import type { JsonObject } from '../../../domain/json.js';
import { dateTime, uuid } from './formats.js';

/** An access rule in a response (docs/contract.md, "Access rules"). */
const accessRule = z
  .object({
    description: z
      .string()
      .optional()
      .meta({ description: 'A human-readable description. Absent if the rule has none.' }),
    priority: z.number().meta({ type: 'integer', description: 'Rules with a lower number are tried first.' }),
    container: z.string().meta({
      description: 'The container that the rule covers, including its children. In lower case, with `/` at both ends.',
    }),
    transform: z.enum(transforms).meta({
      description: 'What the caller sees of the data: all of it, the masked data, or nothing.',
    }),
    permissions: z.array(z.enum(tokenPermissions)).meta({ description: 'What the caller may do with the tokens.' }),
  })
  .meta({
    id: 'AccessRule',
    description: 'What an application may do with the tokens in a container, and what it sees of their data.',
  });

const author = 'The id of an application, or `operator` for the command line.';

const created = {
  created_by: z.string().meta({ description: `Who created it. ${author}` }),
  created_at: dateTime('When it was created.'),
};

/** The fields that state when a tenant or an application was created and last changed, and by which application. */
export const stamps = {
  ...created,
  modified_by: z
    .string()
    .optional()
    .meta({ description: `Who changed it last. ${author} Absent before the first change.` }),
  modified_at: dateTime('When it was last changed. Absent before the first change.').optional(),
};

const fields = {
  id: uuid('The id of the application.'),
  tenant_id: uuid('The tenant of the application.'),
  name: z.string().meta({ description: 'The human-readable name of the application.' }),
  type: z.enum(applicationTypes).meta({
    description:
      'The type of the application. It determines which permissions the application may hold, and never changes.',
  }),
  permissions: z
    .array(z.enum([...tokenPermissions, ...managementPermissions]))
    .optional()
    .meta({ description: 'What the application may do with every token. Absent if it has rules.' }),
  rules: z
    .array(accessRule)
    .optional()
    .meta({ description: 'What the application may do with which tokens. Absent if it has permissions.' }),
  expires_at: dateTime('When the keys of the application stop working. Absent if they never do.').optional(),
  ...stamps,
};

/** An application, without its keys (docs/contract.md, "Applications"). */
export const application = z
  .object(fields)
  .meta({ id: 'Application', description: 'An application, without its keys.' });

/**
 * The response to a request that creates an application. Only this response contains the application's first key. The
 * response to a retry may lack the name (docs/contract.md, "Idempotency").
 */
export const applicationWithKey = z
  .object({
    ...fields,
    name: fields.name.optional().meta({
      description:
        'The human-readable name of the application. Absent only if a retry of the request may not show later changes.',
    }),
    key: z.string().optional().meta({
      description: 'The first API key. Only this response shows it. A retry with the same idempotency key does not.',
    }),
  })
  .meta({ id: 'ApplicationWithKey', description: 'A new application with its first key.' });

const setting = z.enum(['true', 'false']);

/** The caller's tenant (docs/contract.md, "Tenants"). */
export const tenant = z
  .object({
    id: uuid('The tenant’s id.'),
    name: z.string().meta({ description: 'The human-readable name of the tenant.' }),
    settings: z
      .object({
        deduplicate_tokens: setting.meta({
          description: 'Whether a create or update returns an equal token instead of storing the value again.',
        }),
        keep_superseded_data: setting.meta({
          description:
            'Whether the keys of replaced data, at most 10,000 for each token, are kept until the token is deleted.',
        }),
        show_fingerprints: setting.meta({
          description:
            'Whether callers without the transform `reveal` see the fingerprints of tokens. Equal values have equal ' +
            'fingerprints, so such a caller that may also create tokens can find hidden values by trying candidates.',
        }),
      })
      .meta({ description: 'The tenant’s settings.' }),
    ...stamps,
    _warnings: z
      .array(z.string())
      .optional()
      .meta({ description: 'Warnings about what the current settings expose. Absent if they expose nothing.' }),
  })
  .meta({ id: 'Tenant', description: 'A tenant with its settings.' });

const keyFields = { id: uuid('The id of the key, which is not the key itself.'), ...created };

/** The metadata of an active key, without its secret value (docs/contract.md, "API keys"). */
export const apiKey = z
  .object({
    ...keyFields,
    last_used_at: dateTime('When the key was last used, to the minute. Absent before the first use.').optional(),
  })
  .meta({ id: 'ApiKey', description: 'A live API key, without the key itself.' });

/** The response to a request that issues a key. Only this response contains the key. */
export const issuedApiKey = z
  .object({
    ...keyFields,
    key: z.string().optional().meta({
      description: 'The API key itself. Only this response shows it. A retry with the same idempotency key does not.',
    }),
  })
  .meta({ id: 'IssuedApiKey', description: 'A new API key.' });

const ids = {
  tenant: '1255abe4-56ce-48c5-926e-d06322349614',
  application: '5dc3f473-b758-4380-b444-1bb2b9affc6a',
  manager: '0a4c7a3b-6a0e-4a4f-8b6b-4d7f1f3b9c55',
  key: 'c7b1c1a9-0c2f-4f0e-9a45-5a2b6d1f7e10',
};
const createdAt = '2026-01-31T12:00:00.000+00:00';
const exampleStamps = { created_by: ids.manager, created_at: createdAt };

export const applicationRequestExample: JsonObject = {
  name: 'Checkout',
  type: 'private',
  rules: [{ container: '/pci/', transform: 'mask', permissions: ['token:create', 'token:read'] }],
};

export const applicationExample: JsonObject = {
  id: ids.application,
  tenant_id: ids.tenant,
  name: 'Checkout',
  type: 'private',
  rules: [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:create', 'token:read'] }],
  ...exampleStamps,
};

export const apiKeyExample: JsonObject = { id: ids.key, ...exampleStamps };

export const tenantExample: JsonObject = {
  id: ids.tenant,
  name: 'Example',
  settings: { deduplicate_tokens: 'true', keep_superseded_data: 'false', show_fingerprints: 'false' },
  created_by: 'operator',
  created_at: createdAt,
};

export const keyExample = 'sr_private_…';
