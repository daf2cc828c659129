import { join } from 'node:path';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { profile } from './profile.js';
import type { TestService } from './test-service.js';

/**
 * Prevents the destruction of keys until the returned function is called. In the embedded profile, a second connection
 * reads the key store, as during a backup, so the old bytes of a key cannot be removed from the files. In the cluster
 * profile, calls that destroy a key fail before they reach the store.
 */
export function holdKeys({ dataDir, vault: { keys } }: TestService): () => void {
  if (profile === 'embedded') {
    const reader = pinStatements(join(dataDir, 'keys.db'), { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM sqlite_master').get();
    return () => reader.close();
  }
  const { destroy, destroyTenant } = keys;
  const late = () => Promise.reject(new StoreUnavailable('mongodb', 'timeout'));
  Object.assign(keys, { destroy: late, destroyTenant: late });
  return () => Object.assign(keys, { destroy, destroyTenant });
}
