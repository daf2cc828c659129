import { z } from 'zod';
import { keyedHash } from '../../events/sealing/keyed-hash.js';
import { operation } from './operation.js';

/** Returns the code of a backup's manifest, under a key that nobody but the vault has. */
export const backupMac = operation(z.object({ manifest: z.string() }), async ({ vault }, { manifest }) => ({
  mac: manifestMac(vault.integrity.backups, manifest),
}));

export function manifestMac(key: Uint8Array, manifest: string): string {
  return keyedHash(key, 'strongroom.backup.1', manifest).toString('hex');
}
