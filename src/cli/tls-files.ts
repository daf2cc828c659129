import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Config } from '../compose/config/config.js';
import { ExposedSecret, rejectExposed } from '../compose/files/secret-file.js';
import { Failure } from './failure.js';

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
  if (!isPair(files)) {
    throw new Failure(
      `the TLS certificate ${certFile} and the key ${keyFile} do not match, or are not PEM files. Set ` +
        '--tls-cert and --tls-key to a certificate and the key that it was issued for.',
    );
  }
  try {
    // If the operator confused the two files, this one is the certificate, which is no secret. They are therefore
    // compared first.
    rejectExposed(keyFile, statSync(keyFile), 'the TLS key');
  } catch (error) {
    throw error instanceof ExposedSecret ? new Failure(error.message) : error;
  }
  return files;
}

/** Returns when the certificate expires, in ms since the epoch. */
export function expiryOf({ cert }: TlsFiles): number {
  return Date.parse(new X509Certificate(cert).validTo);
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
