import { z } from 'zod';
import { createApplication as create } from '../../commands/directory/create-application.js';
import { applicationTypes } from '../../domain/access/application-type.js';
import { parseApplication } from '../../domain/directory/parse-directory.js';
import type { Json } from '../../domain/json.js';
import { unwrap } from './as-application.js';
import { fieldErrorText } from './field-error-text.js';
import { OperationFailed, operation } from './operation.js';
import { tenantOrOnly } from './tenant-or-only.js';

const input = z.object({
  /** Null: the only tenant there is. */
  tenantId: z.string().nullable(),
  name: z.string(),
  type: z.enum(applicationTypes),
  permissions: z.custom<Json>().optional(),
  rules: z.custom<Json>().optional(),
});

/** Makes an application of a tenant and answers with its key, which is shown this once. */
export const createApplication = operation(input, async (service, { tenantId, ...fields }) => {
  const { vault } = service;
  const spec = parseApplication(fields, vault.clock.now());
  if (!spec.ok) throw new OperationFailed(fieldErrorText(spec.errors));
  const tenant = await tenantOrOnly(service, tenantId);
  const context = { tenantId: tenant, actor: { kind: 'operator' }, traceId: null } as const;
  const { id, key } = unwrap(await create(vault, context, spec.value));
  if (key === null) throw new Error('a new application has a key');
  return { id, tenant_id: tenant, name: fields.name, type: fields.type, key: key.reveal() };
});
