/**
 * `keys.db` contains the wrapped keys, the shredder's checkpoint, and the newest revisions of tokens, tenants and
 * applications.
 *
 * New rows of `data_keys`, `generation_keys` and `tenant_keys` are always appended, and an update never changes the
 * stored size of a value. `destroyed_at` takes six bytes, both for a time and for the initial value `never`.
 * `revision`, the newest recorded revision of the token whose content is encrypted under the key, always takes eight
 * bytes. SQLite therefore overwrites a record in place and never moves it. If SQLite moved a record, an old copy of a
 * wrapped key could stay in a gap of the page that `secure_delete` does not overwrite.
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

  -- How many keys each tenant key has wrapped. This is a separate table, because a growing count changes the width of
  -- its row.
  CREATE TABLE wraps (tenant_key TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- The search-term keys. There is one for each generation of token rows. Like data keys, they are destroyed in place.
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
    -- What was noted of the token whose content lies under the key; the largest number: nothing yet.
    revision BLOB NOT NULL,
    wrapped BLOB NOT NULL
  ) STRICT;

  CREATE TABLE directory_revisions (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
`;

export const keysSchemaVersion = 4;

/** The value of `destroyed_at` for a key that has not been destroyed. It is the largest six-byte integer. */
export const never = 2 ** 47 - 1;

/** The value of `revision` for a key that has no recorded revision. */
export const noRevision = Buffer.alloc(8, 0xff);
