import type { ApplicationDocument, TenantDocument } from '../domain/tenancy/documents.js';
import { applicationDocumentSchema, openDocument, tenantDocumentSchema } from '../events/tenancy/documents.js';
import { tenantStream } from '../events/tenancy/streams.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import { KeyLost } from './key-lost.js';
import { keyNotThere, TenantGone } from './tenant-gone.js';
import type { TenantKeysDeps } from './tenant-keys.js';

type Schema<T> = { parse(value: unknown): T };

/** Returns the document of a live tenant. Returns null if no live tenant has this id. */
export async function tenantDocument(vault: TenantKeysDeps, tenantId: string): Promise<TenantDocument | null> {
  const record = await vault.directory.get('tenant', tenantId);
  return record === null ? null : open(vault, record, tenantDocumentSchema);
}

/** Decrypts the document in a tenant's record. Returns null if the tenant was deleted. */
export function openTenant(vault: TenantKeysDeps, record: DirectoryRecord): Promise<TenantDocument | null> {
  return open(vault, record, tenantDocumentSchema);
}

/** Decrypts the document in an application's record. Returns null if the application or its tenant was deleted. */
export function applicationDocument(
  vault: TenantKeysDeps,
  record: DirectoryRecord,
): Promise<ApplicationDocument | null> {
  return open(vault, record, applicationDocumentSchema);
}

export type LivingApplication = { readonly id: string; readonly document: ApplicationDocument };

/**
 * Returns the record of a live application of this tenant. Returns null if the tenant has no live application with this
 * id.
 */
export async function applicationRecord(
  { directory }: Pick<TenantKeysDeps, 'directory'>,
  tenantId: string,
  id: string,
): Promise<DirectoryRecord | null> {
  const record = await directory.get('application', id);
  return record === null || record.tenantId !== tenantId || record.removedAt !== null ? null : record;
}

/**
 * Returns a live application of this tenant, decrypted. Returns null if the tenant has no live application with this
 * id.
 */
export async function livingApplication(
  vault: TenantKeysDeps,
  tenantId: string,
  id: string,
): Promise<LivingApplication | null> {
  const record = await applicationRecord(vault, tenantId, id);
  const document = record === null ? null : await applicationDocument(vault, record);
  return document === null ? null : { id, document };
}

async function open<T>(vault: TenantKeysDeps, record: DirectoryRecord, schema: Schema<T>): Promise<T | null> {
  const { tenantId, contentRevision: revision, content, removedAt } = record;
  if (content === null || removedAt !== null) return null;
  const stream = tenantStream(tenantId);
  const tenantKeys = await vault.keys.tenantKeys(tenantId);
  if (tenantKeys === null) {
    const error = await keyNotThere(vault, tenantId, stream, 'key_missing');
    if (error instanceof TenantGone) return null;
    throw error;
  }
  const document = openDocument(tenantKeys.directory, content, { tenantId, stream, revision });
  if (document === undefined) throw new KeyLost(stream, 'ciphertext_damaged');
  return schema.parse(document);
}
