import type { TokenRowWriter } from '../../../ports/token-rows.js';
import type { RowIndex } from '../../../ports/unit-of-work.js';
import type { TokenView } from '../../../projections/token-view.js';
import type { MongoConnection } from '../connection.js';
import { dropRowsNotIn } from '../generations/drop-rows.js';
import type { MongoGenerations } from '../generations/mongo-generations.js';
import { mongoRowWriter, type RowOutcome } from './row-writer.js';

export type RowWriterInUse = TokenRowWriter & { forgetTombstones(notBefore: number): Promise<number> };

/**
 * Writes rows into every generation that is written. It looks again at which those are when it has written: one that was
 * added meanwhile is a `gap`, and whoever wrote folds the stream and says what it is found by in that one, too.
 */
export function rowWriterInUse(
  connection: MongoConnection,
  generations: Pick<MongoGenerations, 'inUse' | 'fresh'>,
): RowWriterInUse {
  const { call } = connection;

  function writeInto(generation: number, read: number, row: readonly [TokenView, RowIndex, number, number]) {
    const [{ state }, index] = row;
    const lacks = index !== 'keep' && state.life !== null && index.terms[generation] === undefined;
    if (lacks) return Promise.resolve<RowOutcome>('gap');
    return mongoRowWriter(connection, generation, generation === read ? null : read).write(...row);
  }

  return {
    async write(...row) {
      const { read, write } = await generations.inUse();
      const outcomes = await Promise.all(write.map((generation) => writeInto(generation, read, row)));
      const now = await generations.fresh();
      // Threat: a row that was written into a collection as it was dropped would make it again.
      if (write.some((generation) => !now.write.includes(generation))) await dropRowsNotIn(call, now.write);
      if (outcomes.includes('gap') || now.write.some((generation) => !write.includes(generation))) return 'gap';
      return outcomes[write.indexOf(read)] ?? 'gap';
    },
    async revisionsOf(streams) {
      const { write } = await generations.inUse();
      const each = await Promise.all(
        write.map((generation) => mongoRowWriter(connection, generation).revisionsOf(streams)),
      );
      // What is not in all of them is behind.
      return new Map(streams.map((stream) => [stream, Math.min(...each.map((stored) => stored.get(stream) ?? -1))]));
    },
    async forgetTombstones(notBefore) {
      const { write } = await generations.inUse();
      let forgotten = 0;
      for (const generation of write) {
        forgotten += await mongoRowWriter(connection, generation).forgetTombstones(notBefore);
      }
      return forgotten;
    },
  };
}
