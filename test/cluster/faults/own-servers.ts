import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { onTestFinished } from 'vitest';
import { type StandIn, startStandIn } from '../../support/eventstoredb.js';
import { freePorts } from '../../support/free-ports.js';
import { until } from '../../support/process.js';

const program = fileURLToPath(new URL('../../../scripts/servers.sh', import.meta.url));

/** A server that belongs to the test and runs in a separate process. */
export type OwnServer = {
  /** Sends SIGKILL. Resolves once the process no longer exists. */
  kill(): Promise<void>;
  /** Restarts the server with the same port and data. The given options are added to the usual ones. */
  start(...options: readonly string[]): void;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
};

export type OwnServers = {
  readonly eventStore: StandIn;
  /** The nodes in the replica set. */
  readonly mongo: readonly OwnServer[];
  /** The `host:port` addresses of the nodes, in the same order as `mongo`. */
  readonly mongoHosts: readonly string[];
  /** Returns the index of the current primary in `mongo`. */
  primary(): Promise<number>;
  readonly redis: OwnServer;
  readonly mongoUrl: string;
  readonly redisUrl: string;
};

/**
 * Starts EventStoreDB, MongoDB and Redis for one test, which can kill and freeze them. The servers are removed when the
 * test ends.
 */
export async function ownServers(nodes: 1 | 3 = 1): Promise<OwnServers> {
  const { dir, mongoPort, redisPort } = await startMongoAndRedis(nodes);
  const eventStore = await startStandIn();
  onTestFinished(eventStore.remove);
  const numbers = Array.from({ length: nodes }, (_, index) => index + 1);
  const mongoHosts = numbers.map((node) => `127.0.0.1:${mongoPort + node - 1}`);
  const mongoUrl = `mongodb://${mongoHosts.join()}/?replicaSet=rs0`;
  return {
    eventStore,
    mongoHosts,
    mongoUrl,
    async primary() {
      const client = new MongoClient(mongoUrl);
      try {
        return mongoHosts.indexOf(String((await client.db('admin').command({ hello: 1 }))['primary']));
      } finally {
        await client.close();
      }
    },
    mongo: numbers.map((node) => ownServer(dir, `mongod-${node}`, ['start-mongod', String(node)])),
    redis: ownServer(dir, 'redis', ['start-redis']),
    redisUrl: `redis://127.0.0.1:${redisPort}`,
  };
}

/** Starts the servers. If one does not start, tries again once with other ports, and prints why the first did not. */
async function startMongoAndRedis(nodes: number, isRetry = false) {
  const dir = mkdtempSync(join(tmpdir(), 'strongroom-faults-'));
  // The nodes of MongoDB have consecutive ports.
  const [mongoPort = 0, , , redisPort = 0] = await freePorts(4);
  const env = {
    ...process.env,
    STRONGROOM_SERVERS_DIR: dir,
    STRONGROOM_MONGO_NODES: String(nodes),
    STRONGROOM_MONGO_PORT: String(mongoPort),
    STRONGROOM_REDIS_PORT: String(redisPort),
  };
  onTestFinished(() => {
    execFileSync(program, ['down', '--clean'], { env });
    rmSync(dir, { recursive: true, force: true });
  });
  try {
    execFileSync(program, ['up'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    if (isRetry) throw error;
    console.warn(String(error));
    return startMongoAndRedis(nodes, true);
  }
  return { dir, mongoPort, redisPort };
}

function ownServer(dir: string, name: string, [start = '', ...args]: readonly string[]): OwnServer {
  const pid = () => Number(readFileSync(join(dir, `${name}.pid`), 'utf8'));
  return {
    async kill() {
      const killed = pid();
      process.kill(killed, 'SIGKILL');
      await until(`the end of ${name}`, 30_000, () => (runs(killed) ? undefined : true));
    },
    start: (...options) => void execFileSync(join(dir, start), [...args, ...options], { stdio: 'ignore' }),
    signal: (signal) => void process.kill(pid(), signal),
  };
}

/**
 * Returns true if the process exists and is not a zombie. A killed server can remain a zombie until its parent process
 * reaps it.
 */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
