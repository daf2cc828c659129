import { decodeKeyLine } from './key-line.js';

/** Returns the tenant key in this line of a `keys.db` backup. Returns null if the line contains no tenant key. */
export function tenantKeyRowIn(line: string) {
  const { table, row } = decodeKeyLine(line) ?? { table: '', row: {} };
  if (table !== 'tenant_keys') return null;
  const { id, tenant, purpose, wrapped } = row;
  return {
    id: String(id),
    tenant: String(tenant),
    purpose: String(purpose),
    wrapped: Buffer.isBuffer(wrapped) ? wrapped : null,
  };
}
