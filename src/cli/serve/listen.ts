import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../compose/config.js';
import { Failure } from '../failure.js';

type Address = Pick<Config['settings'], 'host' | 'port'>;

/**
 * Tries the address before anything is made or opened: a start that fails on it leaves no trace, and the next one is
 * still the first. Throws Failure.
 */
export async function expectFreeAddress({ host, port }: Address): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen({ host, port }, resolve);
    });
    await new Promise((resolve) => probe.close(resolve));
  } catch (error) {
    throw asFailure(error, { host, port });
  }
}

/** Listens and answers the address as a URL. Throws Failure. */
export async function listen(app: FastifyInstance, { host, port }: Address): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    throw asFailure(error, { host, port });
  }
}

function asFailure(error: unknown, { host, port }: Address): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Failure(
        `port ${port} on ${host} is in use. Stop what uses it, or choose another one with --port (0 takes a free one).`,
      );
    case 'EACCES':
      return new Failure(`this user may not listen on port ${port}. Choose one above 1023 with --port.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Failure(`${host} is no address of this machine. Choose another one with --host.`);
    default:
      return error;
  }
}
