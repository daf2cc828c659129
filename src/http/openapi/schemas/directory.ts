import { z } from 'zod';
import { applicationTypes } from '../../../domain/access/application-type.js';
import { managementPermissions, tokenPermissions } from '../../../domain/access/permission.js';
import { transforms } from '../../../domain/access/transform.js';
import type { JsonObject } from '../../../domain/json.js';
import { dateTime, uuid } from './formats.js';

/** A rule in responses (docs/contract.md, "Access rules"). */
const accessRule = z
  .object({
    description: z.string().optional(),
    priority: z.number().meta({ type: 'integer', description: 'Rules with a lower priority are tried first.' }),
    container: z.string().meta({ description: 'Lower case, with `/` at both ends; it covers its children.' }),
    transform: z.enum(transforms).meta({ description: 'What is shown of the data.' }),
    permissions: z.array(z.enum(tokenPermissions)),
  })
  .meta({
    id: 'AccessRule',
    description: 'What the application may do with the tokens under a container, and what it sees of their data.',
  });

/** The creator and the last editor of a tenant or an application. */
const stamps = {
  created_by: z.string().meta({ description: 'The id of an application, or `operator`.' }),
  created_at: dateTime,
  modified_by: z.string().optional().meta({ description: 'The id of an application, or `operator`.' }),
  modified_at: dateTime.optional(),
};

const fields = {
  id: uuid,
  tenant_id: uuid,
  name: z.string(),
  type: z.enum(applicationTypes),
  permissions: z
    .array(z.enum([...tokenPermissions, ...managementPermissions]))
    .optional()
    .meta({ description: 'Held for every token; absent when it has rules.' }),
  rules: z.array(accessRule).optional().meta({ description: 'Absent when it has permissions.' }),
  expires_at: dateTime.optional().meta({ description: 'From then on its keys are rejected. Absent: never.' }),
  ...stamps,
};

/** An application, without its keys (docs/contract.md, "Applications"). */
export const application = z.object(fields).meta({ id: 'Application' });

/** The response to the creation of an application, the only one that contains its first key. */
export const applicationWithKey = z
  .object({
    ...fields,
    key: z.string().optional().meta({ description: 'The first key, shown only this once; a repeat does not show it.' }),
  })
  .meta({ id: 'ApplicationWithKey' });

const setting = z.enum(['true', 'false']);

/** The tenant of the caller (docs/contract.md, "Tenants"). */
export const tenant = z
  .object({
    id: uuid,
    name: z.string(),
    settings: z.object({
      deduplicate_tokens: setting.meta({ description: 'Whether an equal token is returned instead of a new one.' }),
      keep_superseded_data: setting.meta({
        description: 'Whether data that an update replaces is kept until deletion.',
      }),
      show_fingerprints: setting.meta({
        description:
          'Whether callers below `reveal` are shown the fingerprints of tokens. Equal values have equal fingerprints: ' +
          'such a caller that may also create tokens finds out hidden values by trying candidates.',
      }),
    }),
    ...stamps,
    _warnings: z.array(z.string()).optional().meta({ description: 'What the settings in force reveal.' }),
  })
  .meta({ id: 'Tenant' });

const keyFields = {
  id: uuid,
  created_by: z.string().meta({ description: 'The id of an application, or `operator`.' }),
  created_at: dateTime,
};

/** An active key, without the key itself (docs/contract.md, "API keys"). */
export const apiKey = z
  .object({
    ...keyFields,
    last_used_at: z
      .string()
      .optional()
      .meta({ format: 'date', description: 'The day of the last use, in UTC. Absent: not used yet.' }),
  })
  .meta({ id: 'ApiKey', description: 'A key that is in force, without the key itself.' });

/** The response to the issue of a key, the only one that contains the key. */
export const issuedApiKey = z
  .object({
    ...keyFields,
    key: z
      .string()
      .optional()
      .meta({ description: 'The key itself, shown only this once; a repeat does not show it.' }),
  })
  .meta({ id: 'IssuedApiKey' });

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
  ...{ id: ids.application, tenant_id: ids.tenant, name: 'Checkout', type: 'private' },
  rules: [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:create', 'token:read'] }],
  ...exampleStamps,
};

export const apiKeyExample: JsonObject = { id: ids.key, ...exampleStamps };

export const tenantExample: JsonObject = {
  ...{ id: ids.tenant, name: 'Example' },
  settings: { deduplicate_tokens: 'true', keep_superseded_data: 'false', show_fingerprints: 'false' },
  ...{ created_by: 'operator', created_at: createdAt },
};

export const historyEntryExample: JsonObject = {
  ...{ type: 'token.updated', revision: 1, actor_id: ids.application, trace_id: 'order-17' },
  ...{ created_at: createdAt, changed: ['metadata'] },
};

export const keyExample = 'sr_private_…';
