import type { StoredWork } from '../../ports/unit-of-work.js';
import { packChange } from './writer/packed-change.js';
import type { Writer } from './writer/writer.js';

/** Implements `StoredWork` on `vault.db`. Many commands share a transaction, and each command has its own savepoint. */
export function sqliteUnitOfWork(writer: Writer): StoredWork {
  return {
    commit: (change) => writer.request('commit', packChange(change)),
    follow: async () => new Set(),
    isOneTransaction: true,
  };
}
