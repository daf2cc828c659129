import { join } from 'node:path';
import type { EventChain } from '../../../ports/event-chain.js';
import type { StoredLog } from '../../../ports/event-log.js';
import { openDatabase } from '../database/open-database.js';
import { sqliteEventChain } from '../event-chain.js';
import { sqliteEventLog } from '../event-log.js';
import { sqliteUnitOfWork } from '../unit-of-work.js';
import { writesNothing } from '../writer/writes-nothing.js';

export type CopiedLog = {
  readonly log: Pick<StoredLog, 'readAll'>;
  readonly chain: Pick<EventChain, 'after'>;
  close(): void;
};

/** Opens the log in a backup's copy of `vault.db`. Throws StoreBroken if the copy cannot be opened. */
export function openCopiedLog(folder: string): CopiedLog {
  // A read-only connection would leave files behind, which would become part of the backup.
  const database = openDatabase(join(folder, 'vault.db'), 'vault.db', 'writer');
  return {
    log: sqliteEventLog(database, sqliteUnitOfWork(writesNothing)),
    chain: sqliteEventChain(database),
    close: () => void database.close(),
  };
}
