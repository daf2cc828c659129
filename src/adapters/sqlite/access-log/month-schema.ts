/**
 * Each slice of 32,768 entries has its own part of the index by entity reference. A move therefore changes only the few
 * hundred pages of the newest slice. Without slices, almost every entry would change a different page, because
 * references are keyed hashes.
 */
export const sliceOfEntry = 'id >> 15';

/**
 * `access-YYYY-MM.db` contains one month of the access log. A repeated string, such as a tenant id or an actor id, is
 * stored only once, in `words`. A trace ciphertext of several entries is stored only once, in `traces`. Each index
 * contains every column that its queries filter by. SQLite therefore computes an exact total from the index alone,
 * without reading entries.
 */
export const accessSchema = `
  CREATE TABLE words (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE traces (id INTEGER PRIMARY KEY, box BLOB NOT NULL) STRICT;

  CREATE TABLE batches (sequence INTEGER PRIMARY KEY, previous BLOB NOT NULL, hash BLOB NOT NULL) STRICT;

  CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    batch INTEGER NOT NULL,
    tenant INTEGER NOT NULL,
    time INTEGER NOT NULL,
    actor INTEGER NOT NULL,
    actor_type INTEGER NOT NULL,
    key INTEGER,
    source INTEGER,
    entity_type INTEGER NOT NULL,
    ref BLOB,
    entity INTEGER,
    operation INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    message INTEGER NOT NULL,
    trace INTEGER,
    trace_index INTEGER,
    trace_stream TEXT,
    trace_revision INTEGER
  ) STRICT;
  CREATE INDEX entries_time ON entries (tenant, time, id, operation, entity_type);
  CREATE INDEX entries_ref ON entries (${sliceOfEntry}, tenant, ref, time, id, operation, entity_type)
    WHERE ref IS NOT NULL;

  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END;
  CREATE TRIGGER entries_are_never_removed BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END;
  CREATE TRIGGER traces_are_never_changed BEFORE UPDATE ON traces BEGIN SELECT RAISE(ABORT, 'append only'); END;
  CREATE TRIGGER traces_are_never_removed BEFORE DELETE ON traces BEGIN SELECT RAISE(ABORT, 'append only'); END;
  CREATE TRIGGER batches_are_never_changed BEFORE UPDATE ON batches BEGIN SELECT RAISE(ABORT, 'append only'); END;
  CREATE TRIGGER batches_are_never_removed BEFORE DELETE ON batches BEGIN SELECT RAISE(ABORT, 'append only'); END;
`;

/** Increase this number also if the lines change (`linesOf`), because the hashes in the file cover the lines. */
export const accessSchemaVersion = 4;
