/**
 * Changes to `vault.db` and batches of access log entries become durable in `journal.db` before they become durable in
 * `vault.db` and the month files (ADR 63). As in `vault.db`, all data from callers is stored as ciphertext or as a
 * keyed hash.
 *
 * A row of `groups` contains the changes in one `vault.db` commit. Its `position` is the position of the newest event
 * after the commit. Its hash covers the previous hash, the sequence number and the changes. A row of `batches` contains
 * a batch of access log entries as lines (`linesOf`). `ends` records the newest group and the newest batch that have
 * been removed.
 */
export const journalSchema = `
  CREATE TABLE groups (
    sequence INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    position INTEGER NOT NULL,
    changes BLOB NOT NULL
  ) STRICT;
  CREATE TABLE batches (
    sequence INTEGER PRIMARY KEY,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL,
    lines TEXT NOT NULL
  ) STRICT;
  CREATE TABLE ends (
    of TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL,
    hash BLOB NOT NULL,
    position INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO ends VALUES ('groups', 0, zeroblob(32), 0), ('batches', 0, zeroblob(32), 0);
`;

/** Increase this number also if the lines of the access log change (`linesOf`). */
export const journalSchemaVersion = 3;
