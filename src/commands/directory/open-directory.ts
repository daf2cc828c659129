import type { ApplicationDocument, TenantDocument } from '../../domain/directory/documents.js';
import { openDocument } from '../../events/directory/document-box.js';
import type { DirectoryRecord } from '../../ports/directory.js';
import { KeyLost } from '../key-lost.js';
import type { Vault } from '../vault.js';

/** A living tenant's document; null when there is none. */
export async function tenantDocument(vault: Vault, tenantId: string): Promise<TenantDocument | null> {
  const record = await vault.directory.get('tenant', tenantId);
  return record === null ? null : ((await open(vault, record)) as TenantDocument | null);
}

/** The document of a living application; null for one that was deleted. */
export async function applicationDocument(vault: Vault, record: DirectoryRecord): Promise<ApplicationDocument | null> {
  return (await open(vault, record)) as ApplicationDocument | null;
}

async function open({ keys }: Vault, record: DirectoryRecord) {
  const { tenantId, stream, contentRevision: revision, content, removedAt } = record;
  if (content === null || removedAt !== null) return null;
  const tenantKeys = await keys.tenantKeys(tenantId);
  if (tenantKeys === null) throw new KeyLost(stream, 'key_missing');
  const document = openDocument(tenantKeys.directory, content, { tenantId, stream, revision });
  if (document === undefined) throw new KeyLost(stream, 'box_damaged');
  return document;
}
