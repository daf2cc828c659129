import type { RootKeys } from '../../key-ring/root-keys.js';
import { newTenantKey, openTenantKey, type VaultKeyPurpose, vaultKeyTenant } from '../../key-ring/tenant-key.js';
import { keptOnceOpened } from '../../key-ring/vault-keys.js';
import { StoreBroken } from '../database/database-error.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { reading } from '../database/reading.js';
import type { Writer } from '../writer/writer.js';

type Row = { readonly id: string; readonly tenant: string; readonly purpose: string; readonly wrapped: Buffer };

type VaultKeyDeps = {
  readonly database: SqliteDatabase;
  readonly writer: Writer;
  readonly roots: RootKeys;
  readonly now: () => number;
};

/** Returns a function that opens a key of the vault. The first call creates the key if `keys.db` has none. */
export function createVaultKey<T>(
  { database, writer, roots, now }: VaultKeyDeps,
  purpose: VaultKeyPurpose,
  keyOf: (secret: Buffer) => T,
): () => Promise<T> {
  const find = database.prepare(
    'SELECT id, tenant, purpose, wrapped FROM tenant_keys WHERE tenant = ? AND purpose = ? ORDER BY rowid LIMIT 1',
  );
  const stored = () => reading(() => find.get(vaultKeyTenant, purpose) as Row | undefined, 'keys.db');

  return keptOnceOpened(async () => {
    if (stored() === undefined) {
      await roots.wrapping((rootKey) =>
        writer.request('insert_tenant_keys', [{ ...newTenantKey(rootKey, vaultKeyTenant, purpose), madeAt: now() }]),
      );
    }
    const row = stored();
    const secret = row === undefined ? null : roots.open((rootKey) => openTenantKey(rootKey, row.wrapped, row));
    if (secret === null)
      throw new StoreBroken(`the ${purpose} key in keys.db does not open: restore keys.db from a backup.`);
    return keyOf(secret);
  });
}
