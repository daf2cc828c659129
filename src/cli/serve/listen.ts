import type { FastifyInstance } from 'fastify';
import { flagName } from '../../compose/config/names.js';
import { Failure } from '../failure.js';

/** Listens and answers the address. What stands in the way is a Failure that names the setting to change. */
export async function listen(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
  settings: { readonly host: 'host' | 'admin.host'; readonly port: 'port' | 'admin.port' },
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const portFlag = flagName(settings.port);
    if (code === 'EADDRINUSE') {
      throw new Failure(
        `port ${port} on ${host} is in use. Stop what uses it, or choose another one with ${portFlag}.`,
      );
    }
    if (code === 'EACCES') {
      throw new Failure(`this user may not listen on port ${port}. Choose one above 1023 with ${portFlag}.`);
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Failure(`${host} is no address of this machine. Choose another one with ${flagName(settings.host)}.`);
    }
    throw error;
  }
}
