import type { Config } from '../../compose/config.js';
import { createAdminApp } from '../../http/admin/admin-app.js';
import type { Logger } from '../../http/logging/logger.js';
import type { Service } from '../../http/service.js';
import { Failure } from '../failure.js';
import { listen } from './listen.js';

export type Admin = {
  /** Says in the log where the listener is, or why there is none. */
  report(logger: Logger): void;
  close(): Promise<void>;
};

/**
 * Starts the admin listener. When nobody chose its port and another program has it, the service runs without: it must
 * not fail to start for a listener that nobody asked for.
 */
export async function startAdmin(service: Service, { settings, sources }: Config): Promise<Admin> {
  const { 'admin.host': host, 'admin.port': port } = settings;
  if (port === 'off') return nothing(() => undefined);
  const app = createAdminApp(service);
  try {
    const adminAddress = await listen(app, { host, port }, { host: 'admin.host', port: 'admin.port' });
    return {
      report: (logger) => logger.info('the admin listener is ready', { adminAddress }),
      close: () => app.close(),
    };
  } catch (error) {
    await app.close();
    if (!(error instanceof Failure) || sources['admin.port'] !== 'default') throw error;
    return nothing((logger) =>
      logger.warn('there is no admin listener: its default port is in use; choose one with admin.port'),
    );
  }
}

function nothing(report: Admin['report']): Admin {
  return { report, close: async () => undefined };
}
