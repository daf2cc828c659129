import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { onTestFinished } from 'vitest';
import { type StandIn, startStandIn } from '../../support/eventstoredb.js';
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
  const dir = mkdtempSync(join(tmpdir(), 'strongroom-faults-'));
  const [mongoPort, redisPort] = await freePorts();
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
  execFileSync(program, ['up'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
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

function ownServer(dir: string, name: string, [start = '', ...args]: readonly string[]): OwnServer {
  const pid = () => Number(readFileSync(join(dir, `${name}.pid`), 'utf8'));
  return {
    async kill() {
      const killed = pid();
      process.kill(killed, 'SIGKILL');
      await until(`the end of ${name}`, 10_000, () => (runs(killed) ? undefined : true));
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

/** How many ports the tests of one worker choose from. */
const portsPerWorker = 1_000;

/**
 * Returns two port numbers: the first of three consecutive free ports, and a fourth free port. Tests that run at the
 * same time choose from different ports. Otherwise, one of them could choose a port that another has chosen, but whose
 * server does not run yet, or was killed and is about to start again.
 */
async function freePorts(): Promise<readonly [number, number]> {
  const begin = 20_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 10) * portsPerWorker;
  return until('four free ports', 10_000, async () => {
    const first = begin + Math.floor(Math.random() * (portsPerWorker - 3));
    const free = await Promise.all([0, 1, 2, 3].map((offset) => isFree(first + offset)));
    return free.includes(false) ? undefined : ([first, first + 3] as const);
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
