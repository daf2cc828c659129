import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CountStep, CountTotal, DailyCounts, DailySeries, DayCount } from '../../ports/daily-counts.js';
import { databaseError, StoreBroken } from './database/database-error.js';
import type { SqliteDatabase } from './database/open-database.js';
import { prepareFile } from './database/prepare-file.js';

export const dailyCountsFile = 'days.db';

type Row = { readonly day: number; readonly name: string; readonly what: string; readonly count: number };

/**
 * Implements `DailyCounts` on a separate file, which is opened on first use. `logId` is the id of the event log. If the
 * file is damaged or belongs to a different log, it is replaced with an empty file. This loses no data, because the
 * counts are derived from the logs and can be recomputed.
 */
export function sqliteDailyCounts(dataDir: string, logId: string): DailyCounts & { close(): void } {
  let open: ReturnType<typeof countsIn> | null = null;

  async function asked<T>(work: (file: ReturnType<typeof countsIn>) => T): Promise<T> {
    try {
      open ??= countsIn(openFor(dataDir, logId));
      return work(open);
    } catch (error) {
      throw databaseError(error, dailyCountsFile, join(dataDir, dailyCountsFile));
    }
  }

  return {
    positions: () => asked((file) => file.positions()),
    add: (step) => asked((file) => file.add(step)),
    days: (tenantId, series, from, to) => asked((file) => file.days(tenantId, series, from, to)),
    totalsBefore: (tenantId, series, day) => asked((file) => file.totalsBefore(tenantId, series, day)),
    clear: () => asked((file) => file.clear()),
    close(): void {
      open?.close();
      open = null;
    },
  };
}

/** Prepares the statements for an open file. */
function countsIn(database: SqliteDatabase) {
  const positions = database.prepare('SELECT source, position FROM positions ORDER BY source');
  const position = database.prepare('SELECT position FROM positions WHERE source = ?').pluck();
  const move = database.prepare(
    'INSERT INTO positions VALUES (@source, @to) ON CONFLICT (source) DO UPDATE SET position = @to',
  );
  const add = database.prepare(
    `INSERT INTO counts VALUES (@tenantId, @series, @day, @name, @what, @count)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const endTenant = database.prepare('DELETE FROM counts WHERE tenant = ?');
  const days = database.prepare(
    `SELECT day, name, what, count FROM counts WHERE tenant = ? AND series = ? AND day BETWEEN ? AND ?
     ORDER BY day, name, what`,
  );
  const totals = database.prepare(
    `SELECT name, what, sum(count) AS count FROM counts WHERE tenant = ? AND series = ? AND day < ?
     GROUP BY name, what ORDER BY name, what`,
  );

  return {
    positions() {
      const rows = positions.all() as { readonly source: string; readonly position: number }[];
      return new Map(rows.map((row) => [row.source, row.position]));
    },
    add: database.transaction(({ source, from, to, counts, ended }: CountStep): boolean => {
      if ((position.get(source) ?? 0) !== from) return false;
      for (const count of counts) add.run(count);
      for (const tenantId of ended) endTenant.run(tenantId);
      move.run({ source, to });
      return true;
    }),
    days(tenantId: string, series: DailySeries, from: number, to: number): readonly DayCount[] {
      return (days.all(tenantId, series, from, to) as Row[]).map((row) => ({ tenantId, series, ...row }));
    },
    totalsBefore: (tenantId: string, series: DailySeries, day: number) =>
      totals.all(tenantId, series, day) as CountTotal[],
    clear: database.transaction((): void => void database.exec('DELETE FROM counts; DELETE FROM positions')),
    close: (): void => void database.close(),
  };
}

function openFor(dataDir: string, logId: string): SqliteDatabase {
  try {
    const opened = openFile(dataDir);
    const counted = opened.prepare('SELECT log FROM identity').pluck().get();
    if (counted === logId) return opened;
    if (counted === undefined) {
      opened.prepare('INSERT INTO identity VALUES (?)').run(logId);
      return opened;
    }
    opened.close();
  } catch (error) {
    if (!(error instanceof StoreBroken)) throw error;
  }
  for (const suffix of ['-wal', '-shm', '']) rmSync(join(dataDir, dailyCountsFile + suffix), { force: true });
  const created = openFile(dataDir);
  created.prepare('INSERT INTO identity VALUES (?)').run(logId);
  return created;
}

function openFile(dataDir: string): SqliteDatabase {
  const database = prepareFile(join(dataDir, dailyCountsFile), dailyCountsFile, schema, schemaVersion);
  // With this setting, a commit does not wait for the disk. Waiting would delay requests, because this thread also
  // serves them. A power failure can undo the newest commits, but the counts and positions in the file still match each
  // other.
  database.pragma('synchronous = NORMAL');
  return database;
}

const schemaVersion = 1;

const schema = `
  CREATE TABLE identity (log TEXT NOT NULL) STRICT;

  CREATE TABLE counts (
    tenant TEXT NOT NULL,
    series TEXT NOT NULL,
    day INTEGER NOT NULL,
    name TEXT NOT NULL,
    what TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (tenant, series, day, name, what)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE positions (source TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;
