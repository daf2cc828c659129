import type { TokenRowWriter } from '../../../ports/token-rows.js';
import type { RowIndex } from '../../../ports/unit-of-work.js';
import type { TokenView } from '../../../projections/token-view.js';
import type { MongoConnection } from '../connection.js';
import type { MongoGenerations } from '../generations/mongo-generations.js';
import { mongoRowWriter, type RowOutcome } from './row-writer.js';

export type RowWriterInUse = TokenRowWriter & { forgetTombstones(notBefore: number): Promise<number> };

/** What goes before the row of a token that ended says so: whoever was cut off in between does both again. */
type OnEnded = (stream: string, revision: number) => Promise<void>;

/**
 * Writes rows into every generation that is written at the time of the call, which must come after the event was stored. A
 * row that does not say what it is found by in one of them is a `gap`: whoever wrote folds the stream and says it.
 */
export function rowWriterInUse(
  connection: MongoConnection,
  generations: Pick<MongoGenerations, 'fresh'>,
  onEnded: OnEnded,
): RowWriterInUse {
  function writeInto(
    generation: number,
    read: number,
    row: readonly [TokenView, RowIndex, number, number],
  ): Promise<RowOutcome> {
    const [{ state }, index] = row;
    const lacks = index !== 'keep' && state.life !== null && index.terms[generation] === undefined;
    if (lacks) return Promise.resolve('gap');
    return mongoRowWriter(connection, generation, generation === read ? null : read).write(...row);
  }

  return {
    async write(...row) {
      const [{ stream, state }] = row;
      if (state.life === null) await onEnded(stream, state.revision);
      const { read, write } = await generations.fresh();
      // The one that is read comes last: what a caller has seen in it is in the next one, too.
      let isBehind = false;
      for (const generation of write.filter((each) => each !== read)) {
        isBehind = (await writeInto(generation, read, row)) === 'gap' || isBehind;
      }
      const outcome = await writeInto(read, read, row);
      return isBehind ? 'gap' : outcome;
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
