import { z } from 'zod';
import { recordOperatorRead } from '../../audit/access-log/record-for-all-tenants.js';
import { createApplication as create } from '../../commands/tenancy/applications.js';
import { applicationTypes } from '../../domain/access/application-type.js';
import type { Json, JsonObject } from '../../domain/json.js';
import { parseApplication } from '../../domain/tenancy/parse-directory.js';
import { listApplications as list } from '../../queries/tenancy/list-applications.js';
import { applicationAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { valueOrThrow } from '../operations/as-application.js';
import { fieldErrorText } from '../operations/field-error-text.js';
import { OperationFailed, operation } from '../operations/operation.js';
import { tenantOrOnly } from '../operations/tenant-or-only.js';

const input = z.object({
  /** The id of the tenant. Null selects the only tenant. */
  tenantId: z.string().nullable(),
  name: z.string(),
  type: z.enum(applicationTypes),
  permissions: z.custom<Json>().optional(),
  rules: z.custom<Json>().optional(),
});

/** Creates an application for a tenant. Returns the application's key, which the vault never shows again. */
export const createApplication = operation(input, async (service, { tenantId, ...fields }) => {
  const { vault } = service;
  const spec = parseApplication(fields, vault.clock.now());
  if (!spec.ok) throw new OperationFailed(fieldErrorText(spec.errors));
  const tenant = await tenantOrOnly(service, tenantId);
  const context = { tenantId: tenant, actor: { kind: 'operator' }, traceId: null } as const;
  const { id, key } = valueOrThrow(await create(vault, context, spec.value));
  if (key === null) throw new Error('a new application must have a key');
  return { id, tenant_id: tenant, name: fields.name, type: fields.type, key: key.reveal() };
});

const pageSize = 100;
const everything = { ids: null, types: null };

/** Returns a tenant's applications without their keys, newest first. Omits deleted applications. */
export const listApplications = operation(
  z.object({ /** Null selects the only tenant. */ tenantId: z.string().nullable() }),
  async (service, { tenantId }) => {
    const tenant = await tenantOrOnly(service, tenantId);
    const applications: JsonObject[] = [];
    for (let offset = 0; ; offset += pageSize) {
      const page = await list(service.vault, tenant, everything, { offset, limit: pageSize });
      applications.push(...page.applications.map((application) => applicationAnswer(tenant, application)));
      if (offset + pageSize >= page.total) break;
    }
    await recordOperatorRead(service.vault, 'application', tenant);
    return { applications };
  },
);
