import { withCreatedPosition } from '../../../domain/token/token-state.js';
import type { BuiltRow } from '../../../ports/generations.js';
import type { StoredWrite } from '../../../ports/unit-of-work.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { ofBothSlots } from '../database/rows-schema.js';
import { createDirectoryRowWriter } from './directory-row-writer.js';
import { createTokenRowWriter, type WrittenGeneration } from './token-row-writer.js';

/** The expected revision of a stream that has no events yet. */
const noEvents = -1;

/**
 * Creates the functions that write the rows for events, in the same transaction that appends the events. Token rows are
 * written to every generation that is in use.
 */
export function createRowWriter(database: SqliteDatabase) {
  const of = ofBothSlots((slot) => createTokenRowWriter(database, slot));
  const generations = database.prepare(
    `SELECT generation, slot, state, (SELECT generation FROM generations WHERE state = 'read') AS read
     FROM generations WHERE state <> 'dropping'`,
  );
  const directory = createDirectoryRowWriter(database);

  /** Returns the generations that are currently written. */
  function written(): readonly WrittenGeneration[] {
    return generations.all() as WrittenGeneration[];
  }

  /** Returns the generation with this number if it is being built. Otherwise returns null. */
  function beingBuilt(generation: number): WrittenGeneration | null {
    return written().find((each) => each.generation === generation && each.state === 'building') ?? null;
  }

  return {
    /**
     * Returns the functions for the writes of one change. The change must be made in one transaction, because the list
     * of generations is read only once.
     */
    ofChange() {
      const current = written();
      return {
        /**
         * Returns false if the search terms for any of the generations are missing. This happens if a generation was
         * added after the row's terms were computed.
         */
        covers({ row }: StoredWrite): boolean {
          if (row?.of !== 'token' || row.index === 'keep' || row.view.state.life === null) return true;
          const { terms } = row.index;
          return current.every(({ generation }) => terms[generation] !== undefined);
        },
        write({ row, commit, expectedRevision }: StoredWrite, positions: readonly number[]): void {
          if (row?.of === 'directory') for (const record of row.records) directory.write(record);
          if (row?.of !== 'token') return;
          const { index } = row;
          const view = { ...row.view, state: withCreatedPosition(row.view.state, expectedRevision, positions) };
          const isNew = expectedRevision === noEvents;
          const keeps = index === 'keep' && view.state.life !== null;
          const at = commit.events.at(-1)?.time ?? 0;
          for (const generation of current) {
            const rows = of[generation.slot];
            // If a generation is being built and the rebuild has not reached this stream yet, skips the row. The
            // rebuild will compute its terms when it reaches the stream.
            if (keeps && generation.state === 'building' && rows.revisionOf(view.stream) !== expectedRevision) continue;
            rows.write({ view, index, at }, generation, isNew);
          }
        },
      };
    },
    /**
     * Writes rows computed by a rebuild. Does not replace an existing row that has the same revision or a newer one.
     */
    put(generation: number, built: readonly BuiltRow[]): void {
      const into = beingBuilt(generation);
      // The rebuild was canceled while this request was waiting for the writer.
      if (into === null) return;
      const rows = of[into.slot];
      for (const row of built) {
        if (rows.revisionOf(row.view.stream) < row.view.state.revision) rows.write(row, into, false);
      }
    },
    replaceDirectory: directory.replaceAll,
  };
}
