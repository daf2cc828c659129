/**
 * `access-YYYY-MM.db`: one month of the access log. Texts that come again and again (tenants, actors, operations) lie once
 * in `words`. Both indexes hold all that filters look at, so that an exact total touches no entry.
 */
export const accessSchema = `
  CREATE TABLE words (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

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
    trace BLOB,
    trace_stream TEXT,
    trace_revision INTEGER
  ) STRICT;
  CREATE INDEX entries_time ON entries (tenant, time, id, operation, entity_type);
  CREATE INDEX entries_ref ON entries (tenant, ref, time, id, operation, entity_type) WHERE ref IS NOT NULL;

  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END;
  CREATE TRIGGER entries_are_never_removed BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END;
  CREATE TRIGGER batches_are_never_changed BEFORE UPDATE ON batches BEGIN SELECT RAISE(ABORT, 'append only'); END;
  CREATE TRIGGER batches_are_never_removed BEFORE DELETE ON batches BEGIN SELECT RAISE(ABORT, 'append only'); END;
`;

export const accessSchemaVersion = 1;
