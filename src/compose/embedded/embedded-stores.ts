import { openSqliteStores } from '../../adapters/sqlite/open-stores.js';
import { authenticStores } from '../../audit/authentic-log.js';

/** The SQLite stores of a data directory, with a log whose events are authenticated. */
export type EmbeddedStores = Awaited<ReturnType<typeof openAuthenticStores>>;

export const openAuthenticStores = async (...given: Parameters<typeof openSqliteStores>) =>
  authenticStores(await openSqliteStores(...given));
