import { firstGeneration } from '../../../ports/generations.js';
import { projectionVersions } from '../../../views/versions.js';
import { rowsSchema, slots } from './rows-schema.js';

const initialVersions = Object.entries(projectionVersions)
  .map(([name, version]) => `INSERT INTO projections VALUES ('${name}', ${version}, NULL);`)
  .join('\n  ');

/**
 * `vault.db` contains the event log and its projections, which are updated in the same transactions. All data from
 * callers is stored as ciphertext (`content`, `cvc`, `trace`) or as a keyed hash (`stream`, `fingerprint`, `terms`,
 * `cmd`). A column of type `ANY` contains the bytes of a keyed hash, or a text (`packed-text.ts`).
 */
export const vaultSchema = `
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream ANY NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    actor TEXT NOT NULL,
    time INTEGER NOT NULL,
    cmd TEXT,
    clear TEXT NOT NULL,
    -- The proof of the event: the first revision of its commit, the digests of the events in it (NULL if it is alone),
    -- the hash of what is sealed, and the authentication code of the commit.
    commit_first INTEGER NOT NULL,
    commit_digests BLOB,
    sealed_hash BLOB NOT NULL,
    mac BLOB NOT NULL,
    -- In the last event of a commit: how many commits there are up to it, and the hash chain over them.
    number INTEGER,
    link BLOB,
    trace BLOB,
    content BLOB,
    cvc BLOB,
    UNIQUE (stream, revision)
  ) STRICT;
  CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'append only'); END;
  CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'append only'); END;

  -- The states of a generation: it is read, it is being built, it is no longer read but still written (left), or it is
  -- being dropped.
  CREATE TABLE generations (
    generation INTEGER PRIMARY KEY,
    slot INTEGER NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('read', 'building', 'left', 'dropping'))
  ) STRICT;
  INSERT INTO generations VALUES (${firstGeneration}, 1, 'read');
  -- For each projection, the version of the code that wrote it, and the current or last rebuild.
  CREATE TABLE projections (name TEXT PRIMARY KEY, version INTEGER NOT NULL, rebuild TEXT) STRICT, WITHOUT ROWID;
  ${initialVersions}
${slots.map(rowsSchema).join('')}
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
    -- The message authentication code of all of the row and of the keys in api_keys.
    mac BLOB NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX directory_living ON directory (tenant, kind, created_revision, application_type)
    WHERE removed_at IS NULL;

  -- used_on is the minute in which the key was last used, counted from 1970-01-01. No event records it.
  CREATE TABLE api_keys (
    hash TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    application TEXT NOT NULL,
    used_on INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX api_keys_application ON api_keys (application);

  CREATE TABLE claims (
    cmd TEXT PRIMARY KEY,
    time INTEGER NOT NULL,
    result TEXT NOT NULL,
    -- The message authentication code of all of the above.
    mac BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX claims_time ON claims (time);

  -- The number of guesses that an application has used in the window that ends at ends_at (ms).
  CREATE TABLE budgets (
    name TEXT NOT NULL,
    application TEXT NOT NULL,
    ends_at INTEGER NOT NULL,
    used INTEGER NOT NULL,
    hits INTEGER NOT NULL,
    exhausted INTEGER NOT NULL,
    suspect_at INTEGER,
    PRIMARY KEY (name, application)
  ) STRICT, WITHOUT ROWID;

  -- The progress of each webhook, as JSON. It consists of positions, event ids and times.
  CREATE TABLE webhook_states (
    webhook TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The ids of tokens that have ended, sealed under the webhook's key. They are emptied after three days. The time of
  -- an emptied id is negative.
  CREATE TABLE webhook_ids (
    webhook TEXT NOT NULL,
    event TEXT NOT NULL,
    sealed BLOB NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (webhook, event)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX webhook_ids_at ON webhook_ids (at);

  -- The newest journal group that has been applied, and its hash in the journal (ADR 63).
  CREATE TABLE applied (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    sequence INTEGER NOT NULL,
    hash BLOB NOT NULL
  ) STRICT;
  INSERT INTO applied VALUES (1, 0, zeroblob(32));
`;

export const vaultSchemaVersion = 8;
