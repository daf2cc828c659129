import type { SqliteDatabase } from '../database/open-database.js';
import type { Slot } from '../database/rows-schema.js';

/** A generation that is updated whenever a token row is written. */
export type WrittenGeneration = {
  readonly generation: number;
  readonly slot: Slot;
  readonly state: 'read' | 'building' | 'left';
  /** The number of the generation used for reads. */
  readonly read: number;
};

/** Returns a function that reads the list of generations that are currently written. */
export function generationsIn(database: SqliteDatabase): () => readonly WrittenGeneration[] {
  const all = database.prepare(
    `SELECT generation, slot, state, (SELECT generation FROM generations WHERE state = 'read') AS read
     FROM generations WHERE state <> 'dropping'`,
  );
  return () => all.all() as WrittenGeneration[];
}
