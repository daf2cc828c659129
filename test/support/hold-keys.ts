import { join } from 'node:path';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { profile } from './profile.js';
import type { TestService } from './test-service.js';

/**
 * Prevents keys from being destroyed until the returned function is called. On SQLite, another connection reads the key
 * store, as a backup would, so the old bytes of a key cannot leave the files. On MongoDB, no command that destroys a
 * key reaches the store.
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
