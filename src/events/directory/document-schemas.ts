import { z } from 'zod';
import { applicationTypes } from '../../domain/access/application-type.js';
import { managementPermissions, tokenPermissions } from '../../domain/access/permission.js';
import { transforms } from '../../domain/access/transform.js';
import type { ApplicationDocument, TenantDocument } from '../../domain/directory/documents.js';

const time = z.number().int();
const setting = z.enum(['true', 'false']);
const stamps = {
  created_by: z.string(),
  created_at: time,
  modified_by: z.string().nullable(),
  modified_at: time.nullable(),
};

/** What the box of a tenant event holds, in version 1. */
export const tenantDocumentSchema: z.ZodType<TenantDocument> = z.object({
  name: z.string(),
  settings: z.object({
    deduplicate_tokens: setting,
    keep_superseded_data: setting,
    show_fingerprints: setting.default('false'),
  }),
  ...stamps,
});

const rule = z.object({
  description: z.string(),
  priority: z.number(),
  container: z.string(),
  transform: z.enum(transforms),
  permissions: z.array(z.enum(tokenPermissions)),
});

/** What the box of an application event holds, in version 1. */
export const applicationDocumentSchema: z.ZodType<ApplicationDocument> = z.object({
  name: z.string(),
  type: z.enum(applicationTypes),
  access: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('permissions'),
      permissions: z.array(z.enum([...tokenPermissions, ...managementPermissions])),
    }),
    z.object({ kind: z.literal('rules'), rules: z.array(rule) }),
  ]),
  expires_at: time.nullable(),
  keys: z.array(z.object({ id: z.string(), hash: z.string(), created_by: z.string(), created_at: time })),
  ...stamps,
});
