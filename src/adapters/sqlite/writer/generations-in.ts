import type { SqliteDatabase } from '../database/open-database.js';
import type { Slot } from '../database/rows-schema.js';

/** A generation that every write of a token row updates. */
export type WrittenGeneration = {
  readonly generation: number;
  readonly slot: Slot;
  readonly state: 'read' | 'building' | 'left';
  /** The generation that is read. */
  readonly read: number;
};

/** Returns a function that reads the generations that are written. */
export function generationsIn(database: SqliteDatabase): () => readonly WrittenGeneration[] {
  const all = database.prepare(
    `SELECT generation, slot, state, (SELECT generation FROM generations WHERE state = 'read') AS read
     FROM generations WHERE state <> 'dropping'`,
  );
  return () => all.all() as WrittenGeneration[];
}
