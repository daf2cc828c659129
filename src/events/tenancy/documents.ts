import { z } from 'zod';
import { applicationTypes } from '../../domain/access/application-type.js';
import { managementPermissions, tokenPermissions } from '../../domain/access/permission.js';
import { transforms } from '../../domain/access/transform.js';
import type { Json } from '../../domain/json.js';
import type { ApplicationDocument, TenantDocument } from '../../domain/tenancy/documents.js';
import { type WebhookDocument, webhookEventTypes } from '../../domain/tenancy/webhook.js';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import type { CiphertextPlace } from '../sealing/ciphertext.js';
import { openJson, sealJson } from '../sealing/json-ciphertext.js';

const time = z.number().int();
const setting = z.enum(['true', 'false']);
const stamps = {
  created_by: z.string(),
  created_at: time,
  modified_by: z.string().nullable(),
  modified_at: time.nullable(),
};

const webhookDocumentSchema: z.ZodType<WebhookDocument> = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string(),
  enabled: z.boolean(),
  event_types: z.array(z.enum(webhookEventTypes)),
  token_types: z.array(z.enum(tokenTypes)).nullable(),
  containers: z.array(z.string()).nullable(),
  secrets: z.array(z.object({ secret: z.string(), created_at: time, ends_at: time.nullable() })),
  id_key: z.string(),
  ...stamps,
});

/** The plaintext of a tenant event's ciphertext, in version 1. */
export const tenantDocumentSchema: z.ZodType<TenantDocument> = z.object({
  name: z.string(),
  settings: z.object({
    deduplicate_tokens: setting,
    keep_superseded_data: setting,
    show_fingerprints: setting.default('false'),
  }),
  webhooks: z.array(webhookDocumentSchema).default([]),
  ...stamps,
});

const rule = z.object({
  description: z.string(),
  priority: z.number(),
  container: z.string(),
  transform: z.enum(transforms),
  permissions: z.array(z.enum(tokenPermissions)),
});

/** The plaintext of an application event's ciphertext, in version 1. */
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

type DocumentPlace = { readonly tenantId: string; readonly stream: string; readonly revision: number };

/** Seals a tenant's or an application's document under the tenant's directory key. */
export function sealDocument(directoryKey: Buffer, document: object, place: DocumentPlace): Buffer {
  return sealJson(directoryKey, document, ciphertextPlace(place));
}

/** Decrypts a sealed document. Returns undefined if the ciphertext is damaged or was sealed for a different place. */
export function openDocument(directoryKey: Buffer, ciphertext: Uint8Array, place: DocumentPlace): Json | undefined {
  return openJson(directoryKey, ciphertext, ciphertextPlace(place));
}

function ciphertextPlace(place: DocumentPlace): CiphertextPlace {
  return { keyId: 'directory', field: 'content', ...place };
}
