/**
 * `journal.db`: what makes changes of `vault.db` and batches of the access log durable, until the files that they
 * belong to hold them durably (ADR 63). Everything that a caller supplied is a ciphertext or a keyed hash, as there.
 *
 * A row of `groups` holds the changes of one commit of `vault.db`, and `position` is the newest event after it. The
 * hash covers the previous hash, the sequence and the changes. A row of `batches` is a batch of the access log, with
 * its entries as lines. `ends` holds the newest of each that were removed.
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

export const journalSchemaVersion = 1;
