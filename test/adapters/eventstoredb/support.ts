import { onTestFinished } from 'vitest';
import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import { startStandIn } from '../../support/eventstoredb.js';
import { authenticated } from '../../support/integrity.js';

/** Starts a stand-in for one test, and opens the adapter on it. Both are closed when the test ends. */
export async function standInWithLog(limitMs?: number, fault?: 'forgetful') {
  const server = await startStandIn(fault);
  onTestFinished(() => server.remove());
  const { log: stored, close } = await openEventStoreDb(server.url, limitMs);
  onTestFinished(close);
  return { server, log: authenticated(stored) };
}
