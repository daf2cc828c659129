import { z } from 'zod';
import { createApplication as create } from '../../commands/directory/create-application.js';
import type { Access } from '../../domain/access/access.js';
import { applicationTypes } from '../../domain/access/application-type.js';
import { parseAccess } from '../../domain/access/parse-access.js';
import type { AccessDocument } from '../../domain/directory/documents.js';
import type { Json } from '../../domain/json.js';
import type { Service } from '../../http/service.js';
import { fieldErrorText } from './field-error-text.js';
import { OperationFailed, operation } from './operation.js';
import { operatorOrigin } from './operator-origin.js';

const input = z.object({
  /** Null: the only tenant there is. */
  tenantId: z.string().nullable(),
  name: z.string().min(1).max(200),
  type: z.enum(applicationTypes),
  permissions: z.custom<Json>().optional(),
  rules: z.custom<Json>().optional(),
});

/** Makes an application of a tenant and answers with its key, which is shown this once. */
export const createApplication = operation(input, async (service, { tenantId, name, type, permissions, rules }) => {
  const access = parseAccess({ permissions, rules }, type);
  if (!access.ok) throw new OperationFailed(fieldErrorText(access.errors));
  const { vault } = service;
  const tenant = tenantId ?? (await onlyTenant(service));
  const created = await create(vault, tenant, { name, type, access: documentOf(access.value) }, operatorOrigin(vault));
  if (created === null) throw new OperationFailed('there is no such tenant; `strongroom tenants list` shows them all.');
  return { id: created.id, tenant_id: tenant, name, type, key: created.key.reveal() };
});

async function onlyTenant({ vault }: Service): Promise<string> {
  const tenants = (await vault.directory.list('tenant')).filter(({ removedAt }) => removedAt === null);
  const [first] = tenants;
  if (first === undefined) throw new OperationFailed('there is no tenant yet; make one with `strongroom init`.');
  if (tenants.length > 1) throw new OperationFailed('there are several tenants; name one with --tenant ID.');
  return first.id;
}

function documentOf(access: Access): AccessDocument {
  return access.kind === 'rules' ? access : { kind: 'permissions', permissions: [...access.permissions] };
}
