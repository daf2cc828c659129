import { mongoCheckpoints } from '#src/adapters/mongodb/checkpoints.js';
import { consoleSessionIndexes, mongoConsoleSessions } from '#src/adapters/mongodb/console-sessions.js';
import { mongoDailyCounts } from '#src/adapters/mongodb/daily-counts.js';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { mongoWebhookStore } from '#src/adapters/mongodb/webhook-store.js';
import { budgetsContract } from '../contract/budgets.js';
import { checkpointsContract } from '../contract/checkpoints.js';
import { claimsContract } from '../contract/claims.js';
import { consoleSessionsContract } from '../contract/console-sessions.js';
import { dailyCountsContract } from '../contract/daily-counts.js';
import { eventChainContract } from '../contract/event-chain.js';
import { generationsContract } from '../contract/generations.js';
import { unitOfWorkContract } from '../contract/unit-of-work.js';
import { webhookStoreContract } from '../contract/webhook-store.js';
import { clusterStores } from './cluster-stores.js';
import { mongoDatabase } from './own-database.js';

unitOfWorkContract('mongodb', clusterStores);
claimsContract('mongodb', clusterStores);
budgetsContract('mongodb', clusterStores);
eventChainContract('mongodb', clusterStores);
generationsContract('mongodb', clusterStores);
checkpointsContract('mongodb', async () => {
  const { connection, drop } = await mongoDatabase();
  return { checkpoints: mongoCheckpoints(connection), close: drop };
});
dailyCountsContract('mongodb', async () => {
  const { connection, drop } = await mongoDatabase();
  return { counts: mongoDailyCounts(connection), close: drop };
});
webhookStoreContract('mongodb', async () => {
  const { connection, drop } = await mongoDatabase();
  return { webhooks: mongoWebhookStore(connection), close: drop };
});
consoleSessionsContract('mongodb', async () => {
  const { connection, drop } = await mongoDatabase();
  await ensureIndexes(connection.db, [consoleSessionIndexes]);
  return { sessions: mongoConsoleSessions(connection), close: drop };
});
