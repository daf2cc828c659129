import { firstGeneration } from '../../../ports/generations.js';
import { MongoBroken, type MongoConnection } from '../connection.js';

/**
 * Returns the only generation whose key still exists, if the document that names the generation to read is missing.
 * During a rebuild, several keys exist, and nothing else identifies the right generation. In that case, throws
 * MongoBroken unless there are no rows and no checkpoints that could belong to the wrong generation.
 */
export async function generationToRead({ call }: MongoConnection, living: readonly number[]): Promise<number> {
  const newest = living.at(-1) ?? firstGeneration;
  if (living.length <= 1) return newest;
  const projected = { name: /^(token_rows_\d+|checkpoints)$/ };
  const found = await call((db) => db.listCollections(projected, { nameOnly: true }).toArray());
  if (found.length > 0) throw new MongoBroken(unknown);
  return newest;
}

const unknown =
  'the record of which rows are in use was lost during a rebuild, and cannot be derived. Drop the collections ' +
  'checkpoints and token_rows_<number>, and run `strongroom init` again: a worker rebuilds the rows from the log. Or ' +
  'restore them together with generations from one copy.';
