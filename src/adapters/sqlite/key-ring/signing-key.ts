import type { SigningKey } from '../../../ports/key-ring.js';
import type { RootKeys } from '../../key-ring/root-keys.js';
import { keptOnceOpened, signingKeyName as name, signingKeyOf } from '../../key-ring/signing-key.js';
import { newTenantKey, openTenantKey } from '../../key-ring/tenant-key.js';
import { StoreBroken } from '../database-error.js';
import type { SqliteDatabase } from '../open-database.js';
import { reading } from '../reading.js';
import type { Writer } from '../writer/writer.js';

type Row = { readonly id: string; readonly tenant: string; readonly purpose: string; readonly wrapped: Buffer };

/** Answers the signing key of the vault; the first call makes it, when there is none. */
export function createSigningKey(database: SqliteDatabase, writer: Writer, roots: RootKeys, now: () => number) {
  const find = database.prepare(
    'SELECT id, tenant, purpose, wrapped FROM tenant_keys WHERE tenant = ? AND purpose = ? ORDER BY rowid LIMIT 1',
  );
  const stored = () => reading(() => find.get(name.tenant, name.purpose) as Row | undefined, 'keys.db');

  async function open(): Promise<SigningKey> {
    if (stored() === undefined) {
      await roots.wrapping((rootKey) => {
        const made = newTenantKey(rootKey, name.tenant, name.purpose);
        return writer.request('insert_tenant_keys', [{ ...made, madeAt: now() }]);
      });
    }
    const row = stored();
    const seed = row === undefined ? null : roots.open((rootKey) => openTenantKey(rootKey, row.wrapped, row));
    if (seed === null)
      throw new StoreBroken('the signing key in keys.db does not open: restore keys.db from a backup.');
    return signingKeyOf(seed);
  }

  return keptOnceOpened(open);
}
