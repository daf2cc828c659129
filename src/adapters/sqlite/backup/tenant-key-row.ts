import { never } from '../database/keys-schema.js';
import { decodeKeyLine } from './key-line.js';

/**
 * Returns the tenant key in this line of a `keys.db` backup. Returns null if the line contains no tenant key. `wrapped`
 * is null if the key was destroyed.
 */
export function tenantKeyRowIn(line: string) {
  const { table, row } = decodeKeyLine(line) ?? { table: '', row: {} };
  if (table !== 'tenant_keys') return null;
  const { id, tenant, purpose, destroyed_at, wrapped } = row;
  return {
    id: String(id),
    tenant: String(tenant),
    purpose: String(purpose),
    wrapped: Buffer.isBuffer(wrapped) && destroyed_at === never ? wrapped : null,
  };
}
