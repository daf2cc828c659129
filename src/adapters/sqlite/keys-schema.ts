/**
 * `keys.db`: wrapped keys and how far the shredder came.
 *
 * Rows of `data_keys`, `generation_keys` and `tenant_keys` are inserted at the end and changed only by values of the same width (`destroyed_at` starts as
 * `never`, which takes the six bytes of any time): so SQLite overwrites a record where it lies and never moves
 * it, and no page keeps a stale copy of wrapped bytes in a gap that `secure_delete` does not reach.
 */
export const keysSchema = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE tenant_keys (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    purpose TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    destroyed_at INTEGER NOT NULL,
    destroyed_by BLOB NOT NULL,
    wrapped BLOB NOT NULL
  ) STRICT;
  CREATE INDEX tenant_keys_tenant ON tenant_keys (tenant, purpose, made_at);

  -- How many keys each has wrapped: apart, because a growing number changes the width of its row.
  CREATE TABLE wraps (tenant_key TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- Keys of search terms, one for each generation of token rows; destroyed in place as a data key is.
  CREATE TABLE generation_keys (
    generation INTEGER PRIMARY KEY,
    made_at INTEGER NOT NULL,
    destroyed_at INTEGER NOT NULL,
    wrapped BLOB NOT NULL
  ) STRICT;

  CREATE TABLE data_keys (
    sequence INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    tenant_key BLOB NOT NULL,
    made_at INTEGER NOT NULL,
    log_head INTEGER NOT NULL,
    destroyed_at INTEGER NOT NULL,
    destroyed_by BLOB NOT NULL,
    wrapped BLOB NOT NULL
  ) STRICT;
`;

export const keysSchemaVersion = 3;

/** The value of `destroyed_at` in a living key: the largest six-byte integer. */
export const never = 2 ** 47 - 1;
