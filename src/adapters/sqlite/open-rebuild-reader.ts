import { join } from 'node:path';
import { createRowComparison } from './compare-rows.js';
import { openDatabase } from './database/open-database.js';
import { packedStreams, streamName } from './database/packed-text.js';
import { reading } from './database/reading.js';
import { ofBothSlots, rowTables, type Slot } from './database/rows-schema.js';
import { sqliteDirectory } from './directory.js';
import { sqliteEventLog } from './event-log.js';
import { sqliteGenerations } from './generations.js';
import { sqliteKeyStore } from './key-store.js';
import { sqliteUnitOfWork } from './unit-of-work.js';
import { writesNothing } from './writer/writes-nothing.js';

type Revision = { readonly stream: string; readonly revision: number };

/** Opens `vault.db` and `keys.db` for the thread that performs a rebuild. That thread only reads from the files. */
export function openRebuildReader(dataDir: string) {
  const vault = openDatabase(join(dataDir, 'vault.db'), 'vault.db', 'reader');
  const keysDb = openDatabase(join(dataDir, 'keys.db'), 'keys.db', 'reader');
  const clock = { now: () => Date.now() };
  const slotOf = vault.prepare('SELECT slot FROM generations WHERE generation = ?').pluck();
  const revisions = ofBothSlots((slot) =>
    vault.prepare(
      `SELECT ${streamName('stream')} AS stream, revision FROM ${rowTables(slot).rows} WHERE stream IN (${packedStreams})`,
    ),
  );

  return {
    keyStore: sqliteKeyStore({ database: keysDb, writer: writesNothing, clock }),
    storedLog: sqliteEventLog(vault, sqliteUnitOfWork(writesNothing)),
    sources: {
      directory: sqliteDirectory(vault, writesNothing),
      generations: sqliteGenerations(vault, writesNothing),
    },
    /** Returns a function that looks up rows by stream in one generation and returns the revision of each row. */
    revisionsIn: (generation: number) => async (streams: readonly string[]) => {
      const rows = reading(() => {
        const slot = slotOf.get(generation) as Slot | undefined;
        return slot === undefined ? [] : (revisions[slot].all(JSON.stringify(streams)) as Revision[]);
      });
      return new Map(rows.map(({ stream, revision }) => [stream, revision]));
    },
    compare: createRowComparison(vault),
    close(): void {
      vault.close();
      keysDb.close();
    },
  };
}
