import { createServer, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { flagName } from '../../compose/config/setting.js';
import { Failure } from '../failure.js';

type Address = { readonly host: string; readonly port: number };
/** The names of the settings that contain the address, for error messages. */
type Settings = {
  readonly host: 'host' | 'admin.host' | 'console.host';
  readonly port: 'port' | 'admin.port' | 'console.port';
};

const publicSettings: Settings = { host: 'host', port: 'port' };

/**
 * Throws Failure if the address is in use. Call it before anything is created or opened. A startup that fails because
 * of the address therefore leaves no files behind, and the next start still counts as the first.
 */
export async function expectFreeAddress({ host, port }: Address, settings = publicSettings): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen({ host, port }, resolve);
    });
    await new Promise((resolve) => probe.close(resolve));
  } catch (error) {
    throw asFailure(error, { host, port }, settings);
  }
}

/**
 * Starts listening and returns the bound address as a URL. Does not use the URL that Fastify returns, because that URL
 * contains the loopback address if the server listens on every interface. Throws Failure if the server cannot listen on
 * the address.
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: Address,
  settings: Settings = publicSettings,
): Promise<string> {
  try {
    const url = await app.listen({ host, port });
    const bound = app.server.address();
    if (bound === null || typeof bound === 'string') return url;
    const name = isIPv6(bound.address) ? `[${bound.address}]` : bound.address;
    return `${new URL(url).protocol}//${name}:${bound.port}`;
  } catch (error) {
    throw asFailure(error, { host, port }, settings);
  }
}

function asFailure(error: unknown, { host, port }: Address, settings: Settings): unknown {
  const portFlag = flagName(settings.port);
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Failure(
        `port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with ` +
          `${portFlag} (0 selects a free port).`,
      );
    case 'EACCES':
      return new Failure(`this user may not listen on port ${port}. Choose a port above 1023 with ${portFlag}.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Failure(
        `${host} is not an address of this machine. Choose another one with ${flagName(settings.host)}.`,
      );
    default:
      return error;
  }
}
