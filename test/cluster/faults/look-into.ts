import { readFileSync } from 'node:fs';
import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import { connectMongo } from '#src/adapters/mongodb/connection.js';
import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';
import { uuidText } from '#src/adapters/mongodb/uuid.js';
import { openMongoKeys } from '#src/compose/cluster/open-mongo-keys.js';
import type { ClearEvent } from '#src/events/event.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { until } from '../../support/process.js';
import { database, type OwnCluster } from './own-cluster.js';
import type { OwnServers } from './own-servers.js';

const erasedWithinMs = 60_000;

/** The contents of a cluster's log and key store. They are read directly from the servers, not through the vault. */
export type Seen = {
  /** The ids of the keys that still exist even though an event marks them for destruction. */
  readonly endedAlive: readonly string[];
  /** Like `endedAlive`, but limited to events on the tokens with these ids. */
  endedAliveOf(ids: readonly string[]): readonly string[];
  /** Returns the events of this type on the token with this id. */
  events(id: string, type: string): readonly ClearEvent[];
};

/**
 * Waits until every key marked for destruction by an event is destroyed. The leader destroys these keys once it has
 * written the rows.
 */
export async function allErased(servers: OwnServers, cluster: OwnCluster): Promise<void> {
  await until('the end of every ended key', erasedWithinMs, async () =>
    (await lookInto(servers, cluster)).endedAlive.length === 0 ? true : undefined,
  );
}

/** Reads the log and the keys directly instead of through the service. */
export async function lookInto(servers: OwnServers, { rootKeyFile, tenantId }: OwnCluster): Promise<Seen> {
  const { log, close } = await openEventStoreDb(servers.eventStore.url);
  const connection = await connectMongo(servers.mongoUrl, `${database}_keys`);
  try {
    const rootKey = Buffer.from(readFileSync(rootKeyFile, 'utf8').trim(), 'hex');
    const { keys } = await openMongoKeys(connection, rootKey, { now: () => Date.now() }, log.head);
    const names = (await keys.tenantKeys(tenantId))?.names;
    await keys.close();
    if (names === undefined) throw new Error('the tenant has no keys');
    const living = await connection.call((db) =>
      keyCollections
        .dataKeys(db)
        .find({ wrapped: { $ne: null } })
        .project<{ _id: Parameters<typeof uuidText>[0] }>({ _id: 1 })
        .toArray(),
    );
    const livingIds = new Set(living.map(({ _id }) => uuidText(_id)));
    const events = await log.readClear(0, 1_000_000);
    const endedBy = ({ clear }: ClearEvent) => (clear['ends'] ?? []) as string[];
    const alive = (some: readonly ClearEvent[]) => some.flatMap(endedBy).filter((id) => livingIds.has(id));
    return {
      endedAlive: alive(events),
      endedAliveOf(ids) {
        const streams = new Set(ids.map((id) => tokenStream(names, id)));
        return alive(events.filter(({ stream }) => streams.has(stream)));
      },
      events: (id, type) => events.filter((event) => event.stream === tokenStream(names, id) && event.type === type),
    };
  } finally {
    await connection.close();
    await close();
  }
}
