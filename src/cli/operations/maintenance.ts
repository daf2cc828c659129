import { z } from 'zod';
import { checkDirectory, checkTokenRows } from '../../commands/check-rows.js';
import { keyedHash } from '../../events/sealing/keyed-hash.js';
import { operation } from './operation.js';

/**
 * Runs one step of a check of all rows. `after` is the end of the previous step. It is null for the first step, which checks
 * tenants and applications.
 */
export const checkRows = operation(z.object({ after: z.string().nullable() }), async ({ vault }, { after }) => {
  const step = after === null ? { ...(await checkDirectory(vault)), next: '' } : await checkTokenRows(vault, after);
  return { ...step, problems: step.problems.map(({ row, what }) => ({ row: { ...row }, what })) };
});

/** Starts a rotation of all keys in the process that holds the data. `rotationState` returns its progress. */
export const rotateKeys = operation(z.object({}), async ({ rotation }) => {
  rotation.start();
  return rotation.state();
});

export const rotationState = operation(z.object({}), async ({ rotation }) => rotation.state());

/** Confirms the clock of the process that holds the data. */
export const confirmClock = operation(z.object({}), async (service) => ({ was: await service.confirmClock() }));

/** Returns the MAC of a backup's manifest, under a key that only the vault has. */
export const backupMac = operation(z.object({ manifest: z.string() }), async ({ vault }, { manifest }) => ({
  mac: manifestMac(vault.integrity.backups, manifest),
}));

export function manifestMac(key: Uint8Array, manifest: string): string {
  return keyedHash(key, 'strongroom.backup.1', manifest).toString('hex');
}
