import type { StoredLog } from '../../ports/event-log.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { type EventStoreDbAddress, nameOf, parseAddress } from './address.js';
import { connectTo } from './connection.js';
import { eventStoreDbEventLog } from './event-log.js';
import { EventStoreDbBroken, rejectedUser } from './failure.js';
import { membersKnownTo } from './gossip.js';

const defaultLimitMs = 5_000;

/**
 * Opens the event log in the EventStoreDB that `connectionString` (`esdb://…`) refers to. `limitMs` is the time limit
 * for each call. Throws StoreUnavailable if the server does not respond within that time. Throws EventStoreDbBroken for
 * a problem that an operator has to fix. Examples are hosts that do not form a cluster, a single host that is a node of
 * a cluster, and a user that is unknown or does not have permission to read the log.
 */
export async function openEventStoreDb(
  connectionString: string,
  limitMs = defaultLimitMs,
): Promise<{ readonly log: StoredLog; close(): Promise<void> }> {
  const address = parseAddress(connectionString);
  if (address.tls !== null && address.user === null) {
    throw new EventStoreDbBroken(
      'eventstore.url names no user. Add the user and the password that `strongroom cluster prepare` is to create.',
    );
  }
  await checkHosts(address);
  const connection = connectTo(address);
  const log = eventStoreDbEventLog(connection, limitMs);
  try {
    await log.head();
  } catch (error) {
    connection.close();
    throw error instanceof StoreUnavailable ? (rejectionOf(error, address) ?? error) : error;
  }
  return { log, close: async () => connection.close() };
}

/**
 * Compares the configured hosts with the cluster members that they report. Throws EventStoreDbBroken if they do not
 * match. If at least one host responds, hosts that do not respond are ignored, so that the vault can start without
 * them.
 */
async function checkHosts({ hosts, isCluster, tls }: EventStoreDbAddress): Promise<void> {
  const asked = await Promise.allSettled(hosts.map((host) => membersKnownTo(host, tls)));
  const views = asked.flatMap((view, index) => {
    const host = hosts[index];
    return view.status === 'fulfilled' && host !== undefined ? [{ host, members: view.value }] : [];
  });
  if (hosts.length > 1 && views.length === 0) {
    throw new EventStoreDbBroken(
      `none of the hosts in eventstore.url responds as EventStoreDB: ${hosts.map(nameOf).join(', ')}. Check that ` +
        'they run, the ports, and the certificates.',
    );
  }
  const alone = views.find(({ members }) => members.length === 1);
  if (hosts.length > 1 && alone !== undefined) {
    throw new EventStoreDbBroken(
      `eventstore.url names ${hosts.length} hosts, but they do not form a cluster: ${nameOf(alone.host)} is a ` +
        'standalone server. List the nodes of one cluster, or only one server.',
    );
  }
  const [only] = views;
  if (!isCluster && only !== undefined && only.members.length > 1) {
    const all = only.members.map(({ endpoint }) => nameOf(endpoint)).join(',');
    throw new EventStoreDbBroken(
      `eventstore.url names one node of a cluster of ${only.members.length}, so the loss of that node would stop ` +
        `the vault. List all of them: esdb://${all}`,
    );
  }
}

function rejectionOf({ reason }: StoreUnavailable, { user, hosts }: EventStoreDbAddress): EventStoreDbBroken | null {
  const name = user?.username ?? '';
  if (reason === rejectedUser.wrongPassword) {
    return new EventStoreDbBroken(
      `EventStoreDB rejected the user ${name} with this password. Check both in eventstore.url.`,
    );
  }
  if (reason === rejectedUser.noRight) {
    return new EventStoreDbBroken(
      `the user ${name} of eventstore.url may not read $all, the whole log of EventStoreDB. Run \`strongroom ` +
        'cluster prepare`, which gives the user what the vault needs.',
    );
  }
  if (reason !== 'no node leads') return null;
  return new EventStoreDbBroken(
    `no EventStoreDB node is the leader (${hosts.map(nameOf).join(', ')}). Start the missing nodes: a cluster ` +
      'needs a majority.',
  );
}
