import type { Server } from 'node:tls';
import type { Config } from '../../compose/config/config.js';
import type { Logger } from '../../http/logging/logger.js';
import { Failure } from '../failure.js';
import { expiryOf, readTls, type TlsFiles } from '../tls-files.js';

/** Logs a warning if the certificate has expired: the service runs, but no client can connect to it. */
export function warnIfExpired(files: TlsFiles, { settings }: Config, logger: Logger): void {
  const expiry = expiryOf(files);
  if (expiry > Date.now()) return;
  const when = new Date(expiry).toISOString();
  logger.warn(`the TLS certificate ${settings['tls.cert']} expired at ${when}. Renew it, then send SIGHUP`);
}

/**
 * Reloads the certificate from its files on SIGHUP. If the new certificate is invalid, the servers keep using the old
 * one. SIGHUP does not end the process, not even without a certificate or during the start: systemd would not restart
 * it. On a terminal, SIGHUP also says that the terminal was closed. Without a certificate, it then ends the process, as
 * for any program.
 */
export function reloadTlsOnHangup(config: Config, logger: Logger) {
  let servers: readonly Server[] | null = null;
  let isAsked = false;

  function reload(): void {
    isAsked = true;
    if (servers === null) return;
    if (servers.length === 0) {
      logger.info('SIGHUP: this process serves no TLS certificate, so there is nothing to reload');
      return;
    }
    try {
      const files = readTls(config);
      if (files === null) return;
      for (const server of servers) server.setSecureContext(files);
      logger.info('the TLS certificate was reloaded');
      warnIfExpired(files, config, logger);
    } catch (error) {
      const message = 'the TLS certificate could not be reloaded; the old one stays in use';
      // The text of a Failure is ours, so it can be logged (docs/contract.md, "Log lines").
      if (error instanceof Failure) logger.error(`${message}: ${error.message}`);
      else logger.error(message, { error });
    }
  }

  if (config.settings['tls.cert'] !== null || process.stdout.isTTY !== true) process.on('SIGHUP', reload);
  return {
    /** Says which servers use the certificate. If SIGHUP arrived during the start, reloads it now. */
    serves(started: readonly Server[]): void {
      servers = started;
      if (isAsked) reload();
    },
  };
}
