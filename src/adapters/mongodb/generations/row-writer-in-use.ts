import type { TokenRowWriter } from '../../../ports/token-rows.js';
import type { MongoConnection } from '../connection.js';
import { inGroups } from '../in-groups.js';
import type { RowWrite } from '../token-rows/row-write.js';
import { mongoRowWriter } from '../token-rows/row-writer.js';
import type { MongoGenerations } from './mongo-generations.js';

export type RowWriterInUse = TokenRowWriter & { forgetTombstones(notBefore: number): Promise<number> };

/** What goes before the row of a token that ended says so: whoever was cut off in between does both again. */
type OnEnded = (stream: string, revision: number) => Promise<void>;

/**
 * Writes rows into every generation that is written after the call, which must come after the event was stored. A row
 * that does not say what it is found by in one of them is a `gap`: whoever wrote folds the stream and says it. Rows
 * that come at the same time go together.
 */
export function rowWriterInUse(
  connection: MongoConnection,
  generations: Pick<MongoGenerations, 'fresh'>,
  onEnded: OnEnded,
): RowWriterInUse {
  /** Writes rows of different streams; adds those that are behind in the generation. */
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
      // The one that is read comes last: what a caller has seen in it is in the next one, too.
      for (const generation of [...write.filter((each) => each !== read), read]) {
        await writeInto(generation, read, distinct, gaps);
      }
    }
    return rows.map(({ view }) => (gaps.has(view.stream) ? 'gap' : 'stored'));
  }

  const groups = inGroups(writeGroup);

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
      // What is not in all of them is behind.
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

/** The rows in parts that hold each stream once, in their order. */
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
