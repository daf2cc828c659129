/**
 * `vault.db`: the event log and, in the same transactions, what is projected from it. Everything a person put in lies
 * in boxes (`content`, `cvc`, `trace`) or as a keyed hash (`stream`, `fingerprint`, `terms`, `cmd`).
 */
export const vaultSchema = `
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    actor TEXT NOT NULL,
    time INTEGER NOT NULL,
    cmd TEXT,
    clear TEXT NOT NULL,
    -- The hash chain over all events up to this one, in order of position.
    chain BLOB NOT NULL,
    trace BLOB,
    content BLOB,
    cvc BLOB,
    UNIQUE (stream, revision)
  ) STRICT;
  CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'append only'); END;
  CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'append only'); END;

  CREATE TABLE token_rows (
    row INTEGER PRIMARY KEY,
    stream TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    state TEXT NOT NULL,
    content BLOB,
    cvc BLOB,
    fingerprint TEXT,
    -- Of the living: the position of the event that created it, and what it is searched by, 16 bytes a term.
    seq INTEGER,
    terms BLOB,
    created_at INTEGER,
    modified_at INTEGER,
    expires_at INTEGER,
    cvc_purge_at INTEGER,
    removed_at INTEGER
  ) STRICT;
  CREATE INDEX token_rows_fingerprint ON token_rows (fingerprint) WHERE fingerprint IS NOT NULL;
  CREATE INDEX token_rows_expires_at ON token_rows (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX token_rows_cvc_purge_at ON token_rows (cvc_purge_at) WHERE cvc_purge_at IS NOT NULL;
  CREATE INDEX token_rows_removed_at ON token_rows (removed_at) WHERE removed_at IS NOT NULL;

  CREATE INDEX token_rows_seq ON token_rows (seq, expires_at, created_at, modified_at) WHERE seq IS NOT NULL;
  CREATE INDEX token_rows_created_at ON token_rows (created_at, seq) WHERE created_at IS NOT NULL;
  CREATE INDEX token_rows_modified_at ON token_rows (modified_at, seq) WHERE modified_at IS NOT NULL;

  -- Which tokens have a term, and of a common one how many. A term is a keyed hash with the tenant in its key.
  CREATE TABLE postings (
    term BLOB NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (term, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE term_counts (term BLOB PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  -- How many living tokens of each type a tenant has, in the transaction of every change of a row.
  CREATE TABLE token_counts (
    tenant TEXT NOT NULL,
    type TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (tenant, type)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER token_counts_made AFTER INSERT ON token_rows WHEN NEW.removed_at IS NULL BEGIN
    INSERT INTO token_counts (tenant, type, count) VALUES (NEW.tenant, NEW.state ->> '$.life.tokenType', 1)
    ON CONFLICT (tenant, type) DO UPDATE SET count = count + 1;
  END;
  CREATE TRIGGER token_counts_ended AFTER UPDATE ON token_rows WHEN OLD.removed_at IS NULL AND
    (NEW.removed_at IS NOT NULL OR OLD.state ->> '$.life.tokenType' <> NEW.state ->> '$.life.tokenType') BEGIN
    UPDATE token_counts SET count = count - 1 WHERE tenant = OLD.tenant AND type = OLD.state ->> '$.life.tokenType';
  END;
  CREATE TRIGGER token_counts_begun AFTER UPDATE ON token_rows WHEN NEW.removed_at IS NULL AND
    (OLD.removed_at IS NOT NULL OR OLD.state ->> '$.life.tokenType' <> NEW.state ->> '$.life.tokenType') BEGIN
    INSERT INTO token_counts (tenant, type, count) VALUES (NEW.tenant, NEW.state ->> '$.life.tokenType', 1)
    ON CONFLICT (tenant, type) DO UPDATE SET count = count + 1;
  END;

  CREATE TABLE directory (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    application_type TEXT,
    revision INTEGER NOT NULL,
    created_revision INTEGER NOT NULL,
    content_revision INTEGER NOT NULL,
    content BLOB,
    removed_at INTEGER,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX directory_living ON directory (tenant, kind, created_revision, application_type)
    WHERE removed_at IS NULL;

  -- used_on: the day since 1970-01-01 on which the key was last used. A note on the row, not an event.
  CREATE TABLE api_keys (
    hash TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    application TEXT NOT NULL,
    used_on INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX api_keys_application ON api_keys (application);

  CREATE TABLE claims (cmd TEXT PRIMARY KEY, time INTEGER NOT NULL, result TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX claims_time ON claims (time);
`;

export const vaultSchemaVersion = 3;
