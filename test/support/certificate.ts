import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const keyOptions = {
  ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
  rsa: ['-newkey', 'rsa:2048'],
};

/**
 * Creates a self-signed certificate with the common name `name`, and the certificate's key. `names` are the names that
 * the certificate is valid for, by default those of this machine.
 */
export function makeCertificate(
  dir: string,
  name: string,
  names = 'IP:127.0.0.1,DNS:localhost',
  keyType: keyof typeof keyOptions = 'ec',
): { cert: string; key: string } {
  const files = { cert: join(dir, `${name}.pem`), key: join(dir, `${name}.key`) };
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      ...keyOptions[keyType],
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=${names}`,
      '-keyout',
      files.key,
      '-out',
      files.cert,
    ],
    { stdio: 'pipe' },
  );
  return files;
}

/** Replaces the validity of a certificate, so that it ends in `days` days, or ended some days ago. */
export function setValidity({ cert, key }: { readonly cert: string; readonly key: string }, days: number): void {
  execFileSync('openssl', ['x509', '-in', cert, '-signkey', key, '-days', String(days), '-out', cert], {
    stdio: 'pipe',
  });
}
