import type { ApplicationDocument } from '../../domain/tenancy/documents.js';
import type { TenantDirectory } from '../../domain/tenancy/tenant-directory.js';

/** Returns the document of a live application after a change. */
export function documentAfter({ applications }: TenantDirectory, id: string): ApplicationDocument {
  const document = applications.get(id);
  if (document === undefined) throw new Error('a changed application must exist');
  return document;
}
