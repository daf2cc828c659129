import type { Config } from '../../compose/config/config.js';
import { isLoopback } from '../../compose/config/schemas.js';
import { createAdminApp } from '../../http/admin/admin-app.js';
import type { Logger } from '../../http/logging/logger.js';
import type { Service } from '../../http/service.js';
import { Failure } from '../failure.js';
import { expectFreeAddress, listen } from './listen.js';

const settingsOfAdmin = { host: 'admin.host', port: 'admin.port' } as const;

export type Admin = {
  /** Logs the listener's address, or the reason why the listener is not running. */
  report(logger: Logger): void;
  close(): Promise<void>;
};

/**
 * Throws Failure if the settings specify an address for the admin listener and that address is in use. Call it before
 * the service creates anything.
 */
export async function expectFreeAdminAddress(config: Config): Promise<void> {
  const { 'admin.host': host, 'admin.port': port } = config.settings;
  if (port !== 'off' && isChosen(config)) await expectFreeAddress({ host, port }, settingsOfAdmin);
}

/**
 * Starts the admin listener. If the settings specify its address and the address is in use, throws Failure. If the
 * default port is in use, the service runs without the listener: the operator did not ask for it, so its failure must
 * not prevent the service from starting.
 */
export async function startAdmin(service: Service, config: Config): Promise<Admin> {
  const { 'admin.host': host, 'admin.port': port } = config.settings;
  if (port === 'off') return nothing(() => undefined);
  const app = createAdminApp(service, { onLoopback: isLoopback(host) });
  try {
    const adminAddress = await listen(app, { host, port }, settingsOfAdmin);
    return {
      report: (logger) => logger.info('the admin listener is ready', { adminAddress }),
      close: () => app.close(),
    };
  } catch (error) {
    await app.close();
    if (!(error instanceof Failure) || isChosen(config)) throw error;
    return nothing((logger) =>
      logger.warn('there is no admin listener: its default port is in use; choose one with admin.port'),
    );
  }
}

function isChosen({ sources }: Config): boolean {
  return sources['admin.port'] !== 'default' || sources['admin.host'] !== 'default';
}

function nothing(report: Admin['report']): Admin {
  return { report, close: async () => undefined };
}
