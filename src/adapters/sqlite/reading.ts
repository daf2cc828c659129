import { databaseError } from './database-error.js';

/** Runs a read of `vault.db` and translates what the library throws. */
export function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw databaseError(error, 'vault.db');
  }
}
