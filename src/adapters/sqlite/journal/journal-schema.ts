/**
 * `journal.db` makes changes to `vault.db` and batches of the access log durable until the files that they belong to
 * contain them durably (ADR 63). As in `vault.db`, everything that a caller supplied is stored as ciphertext or as a
 * keyed hash.
 *
 * A row of `groups` contains the changes of one `vault.db` commit, and `position` is the newest event after it. The
 * hash covers the previous hash, the sequence and the changes. A row of `batches` is a batch of the access log, with
 * its entries as lines. `ends` records the newest group and the newest batch that were removed.
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
