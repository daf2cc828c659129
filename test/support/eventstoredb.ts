import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeCertificate } from './certificate.js';
import { freePort } from './free-ports.js';

const program = fileURLToPath(new URL('./eventstoredb-stand-in/main.mjs', import.meta.url));

/** A process that imitates EventStoreDB for tests. */
export type StandInProcess = {
  readonly port: number;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Kills the process with SIGKILL, so it cannot finish its work. */
  kill(): Promise<void>;
  /** Restarts the process with the same port and data. */
  start(): Promise<void>;
};

/** A stand-in process with a separate directory. */
export type StandIn = StandInProcess & {
  /** The directory with the file `appends.jsonl`, which contains the events. */
  readonly directory: string;
  readonly url: string;
  /** Stops the process and removes its data. */
  remove(): Promise<void>;
};

/**
 * Starts a stand-in. With the fault `forgetful`, the stand-in rejects a retried append, which a real server would
 * acknowledge.
 */
export async function startStandIn(fault?: 'forgetful'): Promise<StandIn> {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-eventstoredb-stand-in-'));
  const process = await startProcess(directory, fault === undefined ? [] : [`--${fault}`]);
  return {
    ...process,
    directory,
    url: `esdb://127.0.0.1:${process.port}?tls=false`,
    async remove() {
      await process.kill();
      rmSync(directory, { recursive: true });
    },
  };
}

/**
 * Starts a stand-in with TLS, users and permissions. The name of its administrator is `admin`, and the password is
 * `changeit`.
 */
export async function startSecureStandIn(): Promise<
  StandIn & { readonly caFile: string; urlOf(user: string): string }
> {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-eventstoredb-stand-in-'));
  const { cert, key } = makeCertificate(directory, 'eventstoredb', 'DNS:localhost');
  const secure = ['--tls-cert', cert, '--tls-key', key, '--admin-password', 'changeit'];
  const process = await startProcess(directory, secure);
  const urlOf = (user: string) => `esdb://${user}@localhost:${process.port}?tlsCAFile=${encodeURIComponent(cert)}`;
  return {
    ...process,
    directory,
    caFile: cert,
    urlOf,
    url: urlOf('admin:changeit'),
    async remove() {
      await process.kill();
      rmSync(directory, { recursive: true });
    },
  };
}

/** Three processes that share a log. The test decides which process is the leader. */
export type StandInCluster = {
  readonly url: string;
  readonly nodes: readonly StandInProcess[];
  /** Returns the index of the node that gossip reports as the leader, or null if gossip reports no leader. */
  leader(): number | null;
  /**
   * Makes gossip report a different leader, or no leader if `leader` is null. Gossip reports the nodes in `dead` as not
   * alive.
   */
  elect(leader: number | null, dead?: readonly number[]): void;
  /** Stops all processes and removes their data. */
  remove(): Promise<void>;
};

export async function startStandInCluster(): Promise<StandInCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-eventstoredb-stand-in-'));
  const nodes = await Promise.all(['0', '1', '2'].map((index) => startProcess(directory, ['--cluster', index])));
  const ports = nodes.map(({ port }) => port);
  let term = 0;
  let leader: number | null = null;
  const elect: StandInCluster['elect'] = (elected, dead = []) => {
    term += 1;
    leader = elected;
    const state = { term, leader, ports, isAlive: ports.map((_, index) => !dead.includes(index)) };
    writeFileSync(join(directory, 'cluster.json.new'), JSON.stringify(state));
    renameSync(join(directory, 'cluster.json.new'), join(directory, 'cluster.json'));
  };
  elect(0);
  return {
    nodes,
    elect,
    leader: () => leader,
    url: `esdb://${ports.map((port) => `127.0.0.1:${port}`).join()}?tls=false`,
    async remove() {
      await Promise.all(nodes.map((node) => node.kill()));
      rmSync(directory, { recursive: true });
    },
  };
}

type Server = { readonly url: string; remove(): Promise<void> };

const realUrl = process.env['STRONGROOM_TEST_EVENTSTORE_URL'];

/**
 * The servers for tests of the protocol. If `STRONGROOM_TEST_EVENTSTORE_URL` names a real server, the tests run on that
 * server. The server can already contain events, which the tests leave unchanged. Otherwise, the tests run on a single
 * stand-in and on a cluster of three.
 */
export const eventStoreServers: readonly { readonly what: string; start(): Promise<Server> }[] =
  realUrl === undefined
    ? [
        { what: 'a stand-in', start: () => startStandIn() },
        { what: 'three stand-ins in a cluster', start: startStandInCluster },
      ]
    : [{ what: 'a real server', start: async () => ({ url: realUrl, remove: async () => undefined }) }];

/** Starts the first server in `eventStoreServers`. */
export async function eventStoreDb(): Promise<Server> {
  const [server] = eventStoreServers;
  if (server === undefined) throw new Error('there is always one');
  return server.start();
}

async function startProcess(directory: string, options: readonly string[]): Promise<StandInProcess> {
  const port = await freePort();
  let running = await spawnStandIn(directory, port, options);
  return {
    port,
    signal: (signal) => void running.child.kill(signal),
    async kill() {
      running.child.kill('SIGKILL');
      await running.ended;
    },
    async start() {
      running = await spawnStandIn(directory, port, options);
    },
  };
}

async function spawnStandIn(directory: string, port: number, options: readonly string[]) {
  const child: ChildProcess = spawn(process.execPath, [program, directory, String(port), ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const bound = new Promise<void>((resolve, reject) => {
    let output = '';
    child.once('error', reject);
    child.once('close', () => reject(new Error(`the stand-in ended: ${output}`)));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (/:\d+(?:\?tls=false)?\n/.test(output)) resolve();
    });
  });
  await bound;
  return { child, ended };
}
