import type { VaultKeyPurpose } from '../../../ports/key-store.js';
import { decodeKeyLine } from './key-line.js';

const purpose: VaultKeyPurpose = 'integrity';

/** Returns the wrapped integrity key if this line of a `keys.db` backup contains it. Otherwise returns null. */
export function integrityRowIn(line: string) {
  const { table, row } = decodeKeyLine(line) ?? { table: '', row: {} };
  const { id, tenant, wrapped } = row;
  if (table !== 'tenant_keys' || row['purpose'] !== purpose || !Buffer.isBuffer(wrapped)) return null;
  return { id: String(id), tenant: String(tenant), wrapped };
}
