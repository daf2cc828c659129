/**
 * `vault.db`: the event log and, in the same transactions, what is projected from it. Everything a person put in lies
 * in boxes (`content`, `cvc`, `trace`) or as a keyed hash (`stream`, `fingerprint`, `terms`, `cmd`).
 */
export const vaultSchema = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

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
    trace BLOB,
    clear TEXT NOT NULL,
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

  CREATE TABLE directory (
    stream TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    revision INTEGER NOT NULL,
    content_revision INTEGER NOT NULL,
    content BLOB,
    removed_at INTEGER,
    UNIQUE (kind, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE api_keys (hash TEXT PRIMARY KEY, stream TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX api_keys_stream ON api_keys (stream);

  CREATE TABLE claims (cmd TEXT PRIMARY KEY, time INTEGER NOT NULL, result TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX claims_time ON claims (time);
`;

export const vaultSchemaVersion = 2;
