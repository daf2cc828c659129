import { BSON, type Document } from 'mongodb';

/**
 * Returns the tenant key in this line of a key store backup. Returns null if the line contains no tenant key. `wrapped`
 * is null if the key was destroyed.
 */
export function tenantKeyDocumentIn(line: string) {
  const { table, row } = BSON.EJSON.parse(line) as { readonly table: string; readonly row: Document };
  if (table !== 'tenant_keys') return null;
  const { _id: id, tenant, purpose, wrapped } = row;
  return {
    id: String(id),
    tenant: String(tenant),
    purpose: String(purpose),
    wrapped: wrapped instanceof BSON.Binary ? Buffer.from(wrapped.buffer) : null,
  };
}
