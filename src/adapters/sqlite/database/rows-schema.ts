/**
 * One of the two sets of tables for token rows. There are at most two generations, so two sets suffice. Both always
 * exist, and one is empty except during a rebuild, so no statement is ever prepared for a table that comes or goes
 * (ADR 10).
 */
export type Slot = 0 | 1;

export const slots = [0, 1] as const;

/** Calls `make` for each set of tables. */
export function ofBothSlots<T>(make: (slot: Slot) => T): readonly [T, T] {
  return [make(0), make(1)];
}

/** Returns the table names of one set. */
export function rowTables(slot: Slot) {
  return {
    rows: `token_rows_${slot}`,
    postings: `postings_${slot}`,
    termCounts: `term_counts_${slot}`,
    tokenCounts: `token_counts_${slot}`,
  } as const;
}

/** Returns the schema of the token rows, the postings and their counts of one generation. */
export function rowsSchema(slot: Slot): string {
  const { rows, postings, termCounts, tokenCounts } = rowTables(slot);
  const type = (row: 'OLD' | 'NEW'): string => `${row}.state ->> '$.life.tokenType'`;
  const countUp = `INSERT INTO ${tokenCounts} (tenant, type, count) VALUES (NEW.tenant, ${type('NEW')}, 1)
    ON CONFLICT (tenant, type) DO UPDATE SET count = count + 1`;
  return `
  CREATE TABLE ${rows} (
    row INTEGER PRIMARY KEY,
    stream TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    revision INTEGER NOT NULL,
    state TEXT NOT NULL,
    content BLOB,
    cvc BLOB,
    -- The message authentication code of all of the above.
    mac BLOB NOT NULL,
    fingerprint TEXT,
    -- Of the living: the position of the event that created it, and what it is searched by, 16 bytes a term.
    seq INTEGER,
    terms BLOB,
    created_at INTEGER,
    modified_at INTEGER,
    expires_at INTEGER,
    cvc_purge_at INTEGER,
    removed_at INTEGER,
    -- Of a row that was written during a rebuild: a hash of its terms in both generations, by which they are compared.
    mark BLOB
  ) STRICT;
  CREATE INDEX ${rows}_fingerprint ON ${rows} (fingerprint, seq) WHERE fingerprint IS NOT NULL;
  CREATE INDEX ${rows}_expires_at ON ${rows} (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX ${rows}_cvc_purge_at ON ${rows} (cvc_purge_at) WHERE cvc_purge_at IS NOT NULL;
  CREATE INDEX ${rows}_removed_at ON ${rows} (removed_at) WHERE removed_at IS NOT NULL;

  CREATE INDEX ${rows}_seq ON ${rows} (seq, expires_at, created_at, modified_at) WHERE seq IS NOT NULL;
  CREATE INDEX ${rows}_created_at ON ${rows} (created_at, seq) WHERE created_at IS NOT NULL;
  CREATE INDEX ${rows}_modified_at ON ${rows} (modified_at, seq) WHERE modified_at IS NOT NULL;

  -- Which tokens have a term, and of a common one how many. A term is a keyed hash with the tenant in its key.
  CREATE TABLE ${postings} (
    term BLOB NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (term, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ${termCounts} (term BLOB PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  -- How many living tokens of each type a tenant has, in the transaction of every change of a row.
  CREATE TABLE ${tokenCounts} (
    tenant TEXT NOT NULL,
    type TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (tenant, type)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER ${tokenCounts}_made AFTER INSERT ON ${rows} WHEN NEW.removed_at IS NULL BEGIN
    ${countUp};
  END;
  CREATE TRIGGER ${tokenCounts}_ended AFTER UPDATE ON ${rows} WHEN OLD.removed_at IS NULL AND
    (NEW.removed_at IS NOT NULL OR ${type('OLD')} <> ${type('NEW')}) BEGIN
    UPDATE ${tokenCounts} SET count = count - 1 WHERE tenant = OLD.tenant AND type = ${type('OLD')};
  END;
  CREATE TRIGGER ${tokenCounts}_begun AFTER UPDATE ON ${rows} WHEN NEW.removed_at IS NULL AND
    (OLD.removed_at IS NOT NULL OR ${type('OLD')} <> ${type('NEW')}) BEGIN
    ${countUp};
  END;
`;
}
