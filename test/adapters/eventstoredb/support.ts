import { onTestFinished } from 'vitest';
import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import { startStandIn } from '../../support/eventstoredb.js';
import { authenticated } from '../../support/integrity.js';

/** A stand-in of its own for a test, and the adapter on it; both are closed when the test ends. */
export async function standInWithLog(limitMs?: number, fault?: 'forgetful') {
  const server = await startStandIn(fault);
  onTestFinished(() => server.remove());
  const { log: stored, close } = await openEventStoreDb(server.url, limitMs);
  onTestFinished(close);
  return { server, log: authenticated(stored) };
}
