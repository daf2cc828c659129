import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Json } from '../../../domain/json.js';
import type { ComparedPage, ComparedStreams, TwoGenerations } from '../../../ports/rebuild-thread.js';
import { termsDigest } from '../../shared/terms-digest.js';
import type { MongoConnection } from '../connection.js';
import { directoryIn } from '../directory/directory-document.js';
import { readSnapshot, type SnapshotOptions } from '../snapshot-reading.js';
import type { RowDocument } from './row-document.js';
import { tokenRowsCollection } from './token-rows-indexes.js';

/**
 * How many times in a row a comparison must find a difference before the difference is reported. A token's rows in the
 * two generations are written one after the other, so they can differ for a moment.
 */
const looks = 5;
const pauseMs = 20;
/**
 * The number of streams whose rows are read in one snapshot and compared without a pause. The rows of a stream contain
 * up to 1 MiB of ciphertext.
 */
const comparedAtOnce = 50;

/**
 * Compares the live rows of two generations, except rows of deleted tenants. Each generation hashes its search terms
 * under a different key, so the terms themselves cannot be compared. Instead, each row of the new generation has a
 * mark, which is a hash of the row's terms in both generations, and the comparison checks this mark.
 */
export function createMongoRowComparison(connection: MongoConnection) {
  const { call } = connection;

  function lookAt(generations: TwoGenerations, streams: readonly string[], gone: ReadonlySet<string>) {
    return readSnapshot(connection, 'comparison_took_too_long', async (db, options) => {
      const read = await livingRows(db, generations.from, streams, gone, options());
      const made = await livingRows(db, generations.generation, streams, gone, options());
      return { rows: read.size, different: streams.filter((stream) => !isSame(read.get(stream), made.get(stream))) };
    });
  }

  async function look(generations: TwoGenerations, streams: readonly string[]) {
    const gone = await call(tenantsGone);
    let rows = 0;
    const different: string[] = [];
    for (let start = 0; start < streams.length; start += comparedAtOnce) {
      const looked = await lookAt(generations, streams.slice(start, start + comparedAtOnce), gone);
      rows += looked.rows;
      different.push(...looked.different);
    }
    return { rows, different };
  }

  return async (generations: TwoGenerations, which: ComparedStreams): Promise<ComparedPage> => {
    const streams = 'streams' in which ? which.streams : await call((db) => streamsAfter(db, generations, which));
    const { rows, different: first } = await look(generations, streams);
    let different = first;
    for (let again = 1; again < looks && different.length > 0; again += 1) {
      await wait(pauseMs);
      different = (await look(generations, different)).different;
    }
    const isFull = 'limit' in which && streams.length === which.limit;
    return { rows, different, last: isFull ? (streams.at(-1) ?? null) : null };
  };
}

async function streamsAfter(
  db: Db,
  { from, generation }: TwoGenerations,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const found = await Promise.all(
    [from, generation].map((each) =>
      db
        .collection<RowDocument>(tokenRowsCollection(each))
        .find({ _id: { $gt: after } }, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    ),
  );
  return [...new Set(found.flat().map(({ _id }) => _id))].sort().slice(0, limit);
}

async function tenantsGone(db: Db): Promise<ReadonlySet<string>> {
  const found = await directoryIn(db)
    .find({ kind: 'tenant', removed_at: { $ne: null } }, { projection: { id: 1 } })
    .toArray();
  return new Set(found.map(({ id }) => id));
}

async function livingRows(
  db: Db,
  generation: number,
  streams: readonly string[],
  gone: ReadonlySet<string>,
  options: SnapshotOptions,
): Promise<ReadonlyMap<string, RowDocument>> {
  const rows = await db
    .collection<RowDocument>(tokenRowsCollection(generation))
    .find({ _id: { $in: [...streams] } }, options)
    .toArray();
  return new Map(rows.filter(({ life, tenant }) => life !== null && !gone.has(tenant)).map((row) => [row._id, row]));
}

function isSame(read: RowDocument | undefined, made: RowDocument | undefined): boolean {
  if (read === undefined || made === undefined) return read === made;
  if (read.life === null || made.life === null) return false;
  const mark = termsDigest(Buffer.concat([...read.terms]), Buffer.concat([...made.terms]));
  return made.mark !== undefined && digest(read, mark) === digest(made, made.mark);
}

/** Returns a hash of a row without its terms and with `mark` in place of the row's own mark. */
function digest(row: RowDocument, mark: Buffer): string {
  const { terms: _, ...fields } = row as RowDocument & { readonly terms: unknown };
  const values = Object.entries({ ...fields, mark }).map(([name, value]) => [
    name,
    Buffer.isBuffer(value) ? value.toString('base64') : value,
  ]);
  return createHash('sha256')
    .update(JSON.stringify(sorted(Object.fromEntries(values) as Json)))
    .digest('hex');
}

/** Returns a copy of a value, with all object keys sorted. Equal values then serialize to equal strings. */
function sorted(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, item]) => [key, sorted(item as Json)]),
  );
}
