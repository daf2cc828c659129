import { afterAll, beforeAll, describe } from 'vitest';
import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import { prepareEventStoreDb } from '#src/adapters/eventstoredb/rights.js';
import { eventStoreServers, startSecureStandIn } from '../support/eventstoredb.js';
import { authenticated } from '../support/integrity.js';
import { eventLogContract, type LogUnderTest } from './event-log.js';

/**
 * The time limit for a call, in ms. It is longer than the limit used by a service, because calls are slow on a machine
 * that runs all tests at the same time.
 */
const limitMs = 30_000;

/**
 * Runs the suite as the user created by `strongroom cluster prepare`, because the guarantees must hold for that user
 * too.
 */
const asPlainUser = {
  what: 'a stand-in with users',
  async start() {
    const server = await startSecureStandIn();
    const url = server.urlOf('strongroom:its-password');
    await prepareEventStoreDb(server.url, url);
    return { url, remove: server.remove };
  },
};

describe.each([...eventStoreServers, asPlainUser])('on $what', ({ start }) => {
  let server: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    server = await start();
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
});
