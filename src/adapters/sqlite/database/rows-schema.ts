/**
 * Identifies one of the two sets of tables for token rows. Two sets are enough, because at most two generations exist
 * at the same time. Both sets always exist, because a statement must not be prepared for a table that is created or
 * dropped later (ADR 10). Except during a rebuild, one of the sets is empty.
 */
export type Slot = 0 | 1;

export const slots = [0, 1] as const;

/** Calls `make` for each set of tables. */
export function ofBothSlots<T>(make: (slot: Slot) => T): readonly [T, T] {
  return [make(0), make(1)];
}

/** Returns the names of the tables in one set. */
export function rowTables(slot: Slot) {
  return {
    rows: `token_rows_${slot}`,
    changes: `index_changes_${slot}`,
    indexState: `index_state_${slot}`,
    runs: `index_runs_${slot}`,
    segments: `index_segments_${slot}`,
    filters: `index_filters_${slot}`,
    blocks: `index_blocks_${slot}`,
    tokenCounts: `token_counts_${slot}`,
  } as const;
}

/**
 * Returns the schema for the token rows, search index and counts of one set. In its comments, "of the living" means
 * that the columns are NULL in a tombstone.
 */
export function rowsSchema(slot: Slot): string {
  const { rows, changes, indexState, runs, segments, filters, blocks, tokenCounts } = rowTables(slot);
  const countUp = `INSERT INTO ${tokenCounts} (tenant, type, count) VALUES (NEW.tenant, NEW.type, 1)
    ON CONFLICT (tenant, type) DO UPDATE SET count = count + 1`;
  return `
  CREATE TABLE ${rows} (
    row INTEGER PRIMARY KEY,
    -- The bytes of the name of the token's stream (sqlite/database/packed-text.ts).
    stream BLOB NOT NULL UNIQUE CHECK (length(stream) = 32),
    tenant TEXT NOT NULL,
    revision INTEGER NOT NULL,
    -- Of the living: the type, and the facts that have no column of their own (sqlite/database/token-row.ts).
    type TEXT,
    life TEXT,
    -- Of the living: the positions of the events that contain its ciphertexts.
    content_at INTEGER,
    cvc_at INTEGER,
    -- The message authentication code of the stream, the tenant, the revision, the type, the life and its times, and
    -- of the ciphertexts in the events at the two positions.
    mac BLOB NOT NULL,
    fingerprint ANY,
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

  -- The search index (sqlite/search-index/entries.ts). A change contains the terms that a commit added and the terms
  -- that it removed. Each term has 16 bytes, and each of the two lists has a checksum. Terms are keyed hashes, under a
  -- key of the tenant. The number of a change is the number of postings in all changes up to and including this one. It
  -- is never reused.
  CREATE TABLE ${changes} (
    number INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    added BLOB,
    removed BLOB
  ) STRICT;
  CREATE INDEX ${changes}_removed ON ${changes} (number) WHERE removed IS NOT NULL;
  -- The last change whose additions are merged into runs, and the last change whose removals are erased from the runs.
  -- This table has one row.
  CREATE TABLE ${indexState} (
    merged INTEGER NOT NULL,
    erased INTEGER NOT NULL,
    version INTEGER NOT NULL
  ) STRICT;
  INSERT INTO ${indexState} VALUES (0, 0, 0);
  CREATE TABLE ${runs} (
    run INTEGER PRIMARY KEY,
    level INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('building', 'read', 'dropped')),
    -- The run that this one is being combined into with others.
    merges_into INTEGER,
    version INTEGER NOT NULL,
    seq_min INTEGER NOT NULL,
    seq_max INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE ${segments} (
    segment INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    version INTEGER NOT NULL,
    fences BLOB NOT NULL
  ) STRICT;
  CREATE INDEX ${segments}_run ON ${segments} (run, segment, version);
  CREATE TABLE ${filters} (segment INTEGER PRIMARY KEY, filter BLOB NOT NULL) STRICT;
  -- A segment has 16 blocks. Block i of a segment has the number 16 * segment + i.
  CREATE TABLE ${blocks} (block INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;
  -- The number of live tokens of each type for each tenant. Every transaction that changes a row updates the count.
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
    (NEW.removed_at IS NOT NULL OR OLD.type <> NEW.type) BEGIN
    UPDATE ${tokenCounts} SET count = count - 1 WHERE tenant = OLD.tenant AND type = OLD.type;
  END;
  CREATE TRIGGER ${tokenCounts}_begun AFTER UPDATE ON ${rows} WHEN NEW.removed_at IS NULL AND
    (OLD.removed_at IS NOT NULL OR OLD.type <> NEW.type) BEGIN
    ${countUp};
  END;
`;
}
