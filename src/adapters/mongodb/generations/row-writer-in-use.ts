import type { TokenRowWriter } from '../../../ports/token-rows.js';
import { batcher } from '../batcher.js';
import type { MongoConnection } from '../connection.js';
import { mongoRowWriter, type RowWrite } from '../token-rows/row-writer.js';
import type { MongoGenerations } from './mongo-generations.js';

export type RowWriterInUse = TokenRowWriter & { forgetTombstones(notBefore: number): Promise<number> };

/**
 * Called before the row of an ended token is written. If the process is interrupted between this call and the write,
 * both are repeated later.
 */
type OnEnded = (stream: string, revision: number) => Promise<void>;

/**
 * Creates a writer that writes rows to every generation that is listed as written. The writer reads this list after a
 * row is passed to it, so pass a row only after its event is stored. If a row has no search terms for one of these
 * generations, the result is `gap`, and the caller folds the stream to compute the terms. Concurrent rows are written
 * as one group.
 */
export function rowWriterInUse(
  connection: MongoConnection,
  generations: Pick<MongoGenerations, 'fresh'>,
  onEnded: OnEnded,
): RowWriterInUse {
  /**
   * Writes rows to one generation. Each row must be from a different stream. If a row cannot be written because the
   * stored row is too old or search terms are missing, adds its stream to `gaps`.
   */
  async function writeInto(generation: number, read: number, rows: readonly RowWrite[], gaps: Set<string>) {
    const complete = rows.filter(({ view, index }) => {
      const lacks = index !== 'keep' && view.state.life !== null && index.terms[generation] === undefined;
      if (lacks) gaps.add(view.stream);
      return !lacks;
    });
    const writer = mongoRowWriter(connection, generation, generation === read ? null : read);
    for (const stream of await writer.writeMany(complete)) gaps.add(stream);
  }

  async function writeGroup(rows: readonly RowWrite[]): Promise<readonly ('stored' | 'gap')[]> {
    const { read, write } = await generations.fresh();
    const gaps = new Set<string>();
    for (const distinct of eachStreamOnce(rows)) {
      // The generation used for reads is written last. Once a caller has seen a row in this generation, all other
      // generations have the row too.
      for (const generation of [...write.filter((each) => each !== read), read]) {
        await writeInto(generation, read, distinct, gaps);
      }
    }
    return rows.map(({ view }) => (gaps.has(view.stream) ? 'gap' : 'stored'));
  }

  const groups = batcher(writeGroup);

  return {
    async write(view, index, before, at) {
      if (view.state.life === null) await onEnded(view.stream, view.state.revision);
      return groups.add({ view, index, before, at });
    },
    async revisionsOf(streams) {
      const { write } = await generations.fresh();
      const each = await Promise.all(
        write.map((generation) => mongoRowWriter(connection, generation).revisionsOf(streams)),
      );
      // Skips a stream if its row is missing in at least one generation, because that row still has to be written.
      const inAll = streams.filter((stream) => each.every((stored) => stored.has(stream)));
      return new Map(inAll.map((stream) => [stream, Math.min(...each.map((stored) => stored.get(stream) ?? -1))]));
    },
    async forgetTombstones(notBefore) {
      const { write } = await generations.fresh();
      let forgotten = 0;
      for (const generation of write) {
        forgotten += await mongoRowWriter(connection, generation).forgetTombstones(notBefore);
      }
      return forgotten;
    },
  };
}

/** Splits the rows into parts so that each stream occurs at most once per part. A stream's rows keep their order. */
function eachStreamOnce(rows: readonly RowWrite[]): readonly (readonly RowWrite[])[] {
  const parts: RowWrite[][] = [];
  const seen = new Map<string, number>();
  for (const row of rows) {
    const part = seen.get(row.view.stream) ?? 0;
    seen.set(row.view.stream, part + 1);
    const rowsOfPart = parts[part] ?? [];
    rowsOfPart.push(row);
    parts[part] = rowsOfPart;
  }
  return parts;
}
