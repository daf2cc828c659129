import { BSON, type Document } from 'mongodb';
import type { VaultKeyPurpose } from '../../../ports/key-store.js';

const purpose: VaultKeyPurpose = 'integrity';

/** Returns the wrapped integrity key if this line of a key store backup contains it. Otherwise returns null. */
export function integrityDocumentIn(line: string) {
  const { table, row } = BSON.EJSON.parse(line) as { readonly table: string; readonly row: Document };
  const { _id: id, tenant, wrapped } = row;
  if (table !== 'tenant_keys' || row['purpose'] !== purpose || !(wrapped instanceof BSON.Binary)) return null;
  return { id: String(id), tenant: String(tenant), wrapped: Buffer.from(wrapped.buffer) };
}
