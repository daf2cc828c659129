import { createServer } from 'node:net';

/** How many ports the tests of one worker choose from. */
const portsPerWorker = 1_000;
/** How many of them were chosen. It begins with a random number, because several runs can share a machine. */
let chosen = Math.floor(Math.random() * portsPerWorker);

/**
 * Returns this many consecutive free ports, for servers whose address must be known before they listen, or that are
 * restarted at the same address. Tests that run at the same time choose from different ports, and the system chooses
 * none of these ports for a server that listens on port 0. Otherwise, another server could take a port before its
 * server listens, or while its server restarts.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const begin = 20_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 10) * portsPerWorker;
  for (let attempt = 0; attempt < portsPerWorker; attempt += 1) {
    const first = begin + (chosen % (portsPerWorker - count));
    chosen += count;
    const ports = Array.from({ length: count }, (_, offset) => first + offset);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports;
  }
  throw new Error('there are no free ports');
}

/** Returns a free port, like `freePorts`. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
