import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type Server } from 'node:tls';
import type { Config } from '../../compose/config/config.js';
import type { Logger } from '../../http/logging/logger.js';
import { Failure } from '../failure.js';

export type TlsFiles = { readonly cert: Buffer; readonly key: Buffer };

/**
 * Reads the certificate and its key. Returns null if no certificate is configured. If a file cannot be used, throws
 * Failure with advice.
 */
export function readTls({ settings }: Config): TlsFiles | null {
  const { 'tls.cert': certFile, 'tls.key': keyFile } = settings;
  if (certFile === null || keyFile === null) return null;
  const files = {
    cert: read(certFile, 'certificate', '--tls-cert'),
    key: read(keyFile, 'key', '--tls-key'),
  };
  if (isPair(files)) return files;
  throw new Failure(
    `the TLS certificate ${certFile} and the key ${keyFile} do not match, or are not PEM files. Set ` +
      '--tls-cert and --tls-key to a certificate and the key that it was issued for.',
  );
}

/** Returns whether a server can use these files, and whether the certificate was issued for the key. */
function isPair(files: TlsFiles): boolean {
  try {
    createSecureContext(files);
    // A context also accepts a certificate and a key of different types, and then every handshake fails.
    return new X509Certificate(files.cert).checkPrivateKey(createPrivateKey(files.key));
  } catch {
    return false;
  }
}

function read(file: string, what: 'certificate' | 'key', flag: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const fault = { ENOENT: 'does not exist', EISDIR: 'is a directory' }[code];
    throw new Failure(
      `the TLS ${what} ${file} ${fault ?? 'cannot be read by this user'}. ` +
        `${fault === undefined ? 'Give this user read permission on it' : `Set ${flag} to the right path`}.`,
    );
  }
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
      if (files !== null) for (const server of servers) server.setSecureContext(files);
      logger.info('the TLS certificate was reloaded');
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
