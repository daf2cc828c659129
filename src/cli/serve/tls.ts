import { readFileSync } from 'node:fs';
import { createSecureContext, type Server } from 'node:tls';
import type { Config } from '../../compose/config.js';
import type { Logger } from '../../http/logging/logger.js';
import { Failure } from '../failure.js';

export type TlsFiles = { readonly cert: Buffer; readonly key: Buffer };

/** The certificate and its key; null when the settings name none. */
export function readTls({ settings }: Config): TlsFiles | null {
  const { 'tls.cert': certFile, 'tls.key': keyFile } = settings;
  if (certFile === null || keyFile === null) return null;
  try {
    const files = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    createSecureContext(files);
    return files;
  } catch {
    throw new Failure(`the TLS certificate ${certFile} and key ${keyFile} cannot be read or do not belong together.`);
  }
}

/** On SIGHUP takes the certificate that lies in the files now; a bad one leaves the old one in use. */
export function reloadTlsOnHangup(config: Config, server: Server, logger: Logger): void {
  process.on('SIGHUP', () => {
    try {
      const files = readTls(config);
      if (files !== null) server.setSecureContext(files);
      logger.info('the TLS certificate was read again');
    } catch {
      logger.error('the TLS certificate could not be read again; the old one stays in use');
    }
  });
}
