import { afterAll, beforeAll } from 'vitest';
import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import { eventStoreDb } from '../support/eventstoredb.js';
import { authenticated } from '../support/integrity.js';
import { eventLogContract, type LogUnderTest } from './event-log.js';

/** More than a service would wait: a machine that runs all tests at once is slow. */
const limitMs = 30_000;

let server: Awaited<ReturnType<typeof eventStoreDb>>;
beforeAll(async () => {
  server = await eventStoreDb();
});
afterAll(() => server.remove());

async function eventStoreDbLog(): Promise<LogUnderTest> {
  let stores = await openEventStoreDb(server.url, limitMs);
  const logUnderTest = (): LogUnderTest => ({
    log: authenticated(stores.log),
    async reopen() {
      await stores.close();
      stores = await openEventStoreDb(server.url, limitMs);
      return logUnderTest();
    },
    close: () => stores.close(),
  });
  return logUnderTest();
}

eventLogContract('eventstoredb', eventStoreDbLog, { sharedLog: true });
