import { firstGeneration } from '../../../ports/generations.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { rebuildByHand } from './generations-document.js';

/**
 * Chooses the generation to read when the document that names it is missing. If at most one generation has a key,
 * returns that generation, or the first generation if none has a key. During a rebuild, several generations have keys,
 * and the right one cannot be determined. In that case, throws MongoBroken if there are rows or checkpoints that could
 * belong to the wrong generation.
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
  'the record of which rows are in use was lost during a rebuild, and cannot be derived. ' +
  `${rebuildByHand}. Or restore these collections from one copy.`;
