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
  try {
    createSecureContext(files);
    return files;
  } catch {
    throw new Failure(
      `the TLS certificate ${certFile} and the key ${keyFile} do not belong together, or are not PEM files. Set ` +
        '--tls-cert and --tls-key to a certificate and the key that it was issued for.',
    );
  }
}

function read(file: string, what: 'certificate' | 'key', flag: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new Failure(
      `the TLS ${what} ${file} ${isMissing ? 'does not exist' : 'cannot be read by this user'}. ` +
        `${isMissing ? `Set ${flag} to the right path` : 'Give this user read permission on it'}.`,
    );
  }
}

/**
 * Reloads the certificate from its files on SIGHUP. If the new certificate is invalid, the server keeps using the old
 * one.
 */
export function reloadTlsOnHangup(config: Config, servers: readonly Server[], logger: Logger): void {
  process.on('SIGHUP', () => {
    try {
      const files = readTls(config);
      if (files !== null) for (const server of servers) server.setSecureContext(files);
      logger.info('the TLS certificate was reloaded');
    } catch {
      logger.error('the TLS certificate could not be reloaded; the old one stays in use');
    }
  });
}
