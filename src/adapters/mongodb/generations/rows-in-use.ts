import { GenerationDropped } from '../../../ports/generations.js';
import type { TokenRows } from '../../../ports/token-rows.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import { batcher } from '../batcher.js';
import type { MongoConnection } from '../connection.js';
import { type MongoTokenRows, mongoTokenRows } from '../token-rows/token-rows.js';
import { trustedMs } from './known-generations.js';
import type { MongoGenerations } from './mongo-generations.js';

/**
 * Implements `TokenRows` on the generation that is currently read. A search uses the generation that it was planned
 * for. After each read, checks that rows were still being written to the generation. If they were not, the generation
 * lacks newer rows and will soon be dropped, so the result must not be returned.
 */
export function tokenRowsInUse(
  connection: MongoConnection,
  generations: Pick<MongoGenerations, 'known' | 'fresh'>,
): TokenRows {
  async function from<T>(planned: number | null, look: (rows: MongoTokenRows) => Promise<T>): Promise<T> {
    const { read, write, at } = await generations.known();
    const generation = planned ?? read;
    if (!write.includes(generation)) throw new GenerationDropped('mongodb');
    const answer = await look(mongoTokenRows(connection, generation));
    // If the generation was listed as read a moment ago, it will still be written for a few more seconds (see
    // `minimalGraceMs`), so no check is needed.
    if (generation === read && performance.now() - at < trustedMs) return answer;
    if ((await generations.fresh()).write.includes(generation)) return answer;
    throw new GenerationDropped('mongodb');
  }

  async function current<T>(look: (rows: MongoTokenRows) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await from(null, look);
      } catch (error) {
        // The process was suspended for so long that the generation was dropped in the meantime. Retries with the
        // generation now used for reads.
        if (!(error instanceof GenerationDropped)) throw error;
      }
    }
  }

  const gets = batcher<string, Stored<TokenView> | null>((streams) => current((rows) => rows.getMany(streams)));

  return {
    get: gets.add,
    findByFingerprint: (...given) => current((rows) => rows.findByFingerprint(...given)),
    search: (plan, page) => from(plan.generation, (rows) => rows.search(plan, page)),
    walk: (plan, step) => from(plan.generation, (rows) => rows.walk(plan, step)),
    countByType: (...given) => current((rows) => rows.countByType(...given)),
    due: (...given) => current((rows) => rows.due(...given)),
    nextDueAt: () => current((rows) => rows.nextDueAt()),
    page: (...given) => current((rows) => rows.page(...given)),
  };
}
