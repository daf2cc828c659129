import { GenerationDropped } from '../../../ports/generations.js';
import type { TokenRows } from '../../../ports/token-rows.js';
import type { MongoConnection } from '../connection.js';
import type { MongoGenerations } from '../generations/mongo-generations.js';
import { mongoTokenRows } from './token-rows.js';

/** `TokenRows` on the generation that is read; a search is answered by the rows that it was planned for. */
export function tokenRowsInUse(connection: MongoConnection, generations: Pick<MongoGenerations, 'inUse'>): TokenRows {
  const rowsOf = (generation: number): TokenRows => mongoTokenRows(connection, generation);
  const read = async (): Promise<TokenRows> => rowsOf((await generations.inUse()).read);

  async function planned(generation: number): Promise<TokenRows> {
    if ((await generations.inUse()).write.includes(generation)) return rowsOf(generation);
    throw new GenerationDropped('mongodb');
  }

  return {
    get: async (stream) => (await read()).get(stream),
    findByFingerprint: async (...given) => (await read()).findByFingerprint(...given),
    search: async (plan, page) => (await planned(plan.generation)).search(plan, page),
    walk: async (plan, step) => (await planned(plan.generation)).walk(plan, step),
    countByType: async (...given) => (await read()).countByType(...given),
    due: async (...given) => (await read()).due(...given),
    nextDueAt: async () => (await read()).nextDueAt(),
  };
}
