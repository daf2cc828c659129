import type { Rebuild } from '../../../ports/generations.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { ofBothSlots, rowTables, type Slot } from '../database/rows-schema.js';
import { createIndexKeeper } from '../search-index/index-keeper.js';
import type { WriterOperations } from './protocol.js';

type Input<O extends keyof WriterOperations> = WriterOperations[O]['input'];

/**
 * Creates the operations on generations of token rows. Each call must run inside a savepoint of a group's transaction.
 */
export function createGenerationOperations(database: SqliteDatabase) {
  const add = database.prepare(
    `INSERT INTO generations (generation, slot, state)
     SELECT ?, 1 - slot, 'building' FROM generations WHERE state = 'read'`,
  );
  const dropOthers = database.prepare('DELETE FROM generations WHERE generation <> ?');
  const slotOf = database.prepare('SELECT slot FROM generations WHERE generation = ?').pluck();
  const setState = database.prepare('UPDATE generations SET state = ? WHERE generation = ?');
  const forget = database.prepare(`DELETE FROM generations WHERE generation = ? AND state = 'dropping'`);
  const isRebuilding = database.prepare(
    `SELECT 1 FROM projections WHERE name = 'tokens' AND rebuild ->> '$.phase' <> 'ended'`,
  );
  const saveRebuild = database.prepare(`UPDATE projections SET rebuild = ? WHERE name = 'tokens'`);
  const saveVersion = database.prepare('UPDATE projections SET version = ? WHERE name = ?');
  const empty = ofBothSlots((slot) => createEmptySlot(database, slot));
  const lacking = ofBothSlots((slot) =>
    database.prepare(
      `SELECT 1 FROM (SELECT stream, max(revision) AS newest FROM events
         WHERE position > ? AND typeof(stream) = 'blob' GROUP BY stream) e
       WHERE newest > ifnull((SELECT revision FROM token_rows_${slot} r WHERE r.stream = e.stream), -1) LIMIT 1`,
    ),
  );

  function save(rebuild: Rebuild | null): null {
    saveRebuild.run(rebuild === null ? null : JSON.stringify(rebuild));
    return null;
  }

  return {
    begin_generation(rebuild: Input<'begin_generation'>): boolean {
      if (isRebuilding.get() !== undefined) return false;
      // No rebuild is running, so no other generation is in use. Threat: an attacker adds one, and no change can be
      // stored, because the vault has no key for its terms.
      dropOthers.run(rebuild.from);
      setState.run('read', rebuild.from);
      add.run(rebuild.generation);
      save(rebuild);
      return true;
    },
    save_rebuild: save,
    save_version({ name, version }: Input<'save_version'>): null {
      saveVersion.run(version, name);
      return null;
    },
    swap_generation({ rebuild, version }: Input<'swap_generation'>): boolean {
      const slot = slotOf.get(rebuild.generation) as Slot | undefined;
      if (slot === undefined || lacking[slot].get(rebuild.position) !== undefined) return false;
      setState.run('left', rebuild.from);
      setState.run('read', rebuild.generation);
      saveVersion.run(version, 'tokens');
      save(rebuild);
      return true;
    },
    leave_generation({ generation }: Input<'leave_generation'>): null {
      setState.run('dropping', generation);
      return null;
    },
    empty_generation({ generation }: Input<'empty_generation'>): boolean {
      const slot = slotOf.get(generation) as Slot | undefined;
      if (slot !== undefined && !empty[slot]()) return false;
      forget.run(generation);
      return true;
    },
  };
}

/**
 * The maximum number of rows that one request removes from a table. The number is small so that the request does not
 * delay other work.
 */
export const removedMax = 200;

/**
 * Returns a function that removes some of the rows in a set of tables. The function returns true when no rows are left.
 * The last call deletes all remaining rows of each table with a single statement. With `secure_delete`, SQLite then
 * also overwrites the last page, which can contain leftover bytes of records that were moved.
 */
function createEmptySlot(database: SqliteDatabase, slot: Slot): () => boolean {
  const { rows, tokenCounts } = rowTables(slot);
  const index = createIndexKeeper(database, slot);
  const removeRows = database.prepare(`DELETE FROM ${rows} WHERE row IN (SELECT row FROM ${rows} LIMIT ${removedMax})`);
  const clear = [rows, tokenCounts].map((table) => database.prepare(`DELETE FROM ${table}`));

  return () => {
    if (!index.empty()) return false;
    if (removeRows.run().changes === removedMax) return false;
    for (const all of clear) all.run();
    return true;
  };
}
