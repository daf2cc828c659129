import { firstGeneration } from '../../key-ring/generation-key.js';
import { MongoBroken, type MongoConnection } from '../connection.js';

/**
 * The generation to read where no document says so any more: the one whose key lives. Several live during a rebuild,
 * and nothing else tells which of them is read: throws MongoBroken then, unless nothing was projected that could be the
 * wrong one.
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
  'the note of which rows are read was lost during a rebuild, and nothing else says which they are. Drop the collections ' +
  'checkpoints and token_rows_ with any number, and run `strongroom init` again: a worker makes the rows from the log. Or ' +
  'restore them together with generations from one copy.';
