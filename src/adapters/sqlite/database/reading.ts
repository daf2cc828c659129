import { databaseError } from './database-error.js';

/** Runs a read of a store file and translates the errors of the library. */
export function reading<T>(read: () => T, fileName: 'vault.db' | 'keys.db' = 'vault.db'): T {
  try {
    return read();
  } catch (error) {
    throw databaseError(error, fileName);
  }
}
