import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type CheckedRows, checkClaims, checkDirectory, checkTokenRows } from '../../audit/check-rows.js';
import { expectContinuity } from '../../audit/continuity.js';
import { wholePages } from '../../audit/proven-chain.js';
import { namedMax } from '../../domain/text.js';
import { keyedHash } from '../../events/sealing/keyed-hash.js';
import { ForgedLog } from '../../ports/event-log.js';
import { livingTenants } from '../../vault/for-tenants.js';
import { logIdentity } from '../../vault/open-log.js';
import type { Vault } from '../../vault/vault.js';
import { operation } from '../operations/operation.js';

const place = z.object({ of: z.enum(['token', 'claim']), after: z.string() });
type Place = z.infer<typeof place>;

/**
 * Runs one step of checking all rows. Tenants and applications are checked first, then tokens, then claims. `from` is
 * null in the first step. In every other step, it is the value of `next` from the previous step.
 */
export const checkRows = operation(z.object({ from: place.nullable() }), async ({ vault }, { from }) => {
  const { rows, live, problems, next } = await checkFrom(vault, from);
  return { rows, live, problems: problems.map(({ row, what }) => ({ row: { ...row }, what })), next };
});

async function checkFrom(
  vault: Pick<Vault, 'claims' | 'directory' | 'generations' | 'keys' | 'rows' | 'storedLog'>,
  from: Place | null,
): Promise<Omit<CheckedRows, 'next'> & { readonly next: Place | null }> {
  if (from === null) return { ...(await checkDirectory(vault)), next: { of: 'token', after: '' } };
  const checked = await (from.of === 'token' ? checkTokenRows(vault, from.after) : checkClaims(vault, from.after));
  if (checked.next !== null) return { ...checked, next: { of: from.of, after: checked.next } };
  return { ...checked, next: from.of === 'token' ? { of: 'claim', after: '' } : null };
}

/**
 * Runs one step of opening all keys of the vault. Returns the number of damaged keys, and describes the first ones. The
 * keys under the root key are opened first, then the data keys. `from` is null in the first step. In every other step,
 * it is the value of `next` from the previous step.
 */
export const checkKeys = operation(z.object({ from: z.number().int().nullable() }), async ({ vault }, { from }) => {
  const { check } = vault.keys;
  if (from === null) {
    const damaged = await check.underRoot(await livingTenants(vault));
    return { damaged: damaged.length, named: damaged.slice(0, namedMax).map(({ name }) => name), next: 0 };
  }
  const page = await check.dataKeys(from);
  if (page === null) return { damaged: 0, named: [], next: null };
  const named = page.damaged.slice(0, namedMax).map((keyId) => `the data key ${keyId}`);
  return { damaged: page.damaged.length, named, next: page.last };
});

/**
 * Verifies the events since the last checkpoint, and returns what a backup needs to verify its copy of the log. `forged`
 * says what is wrong with these events, or is null. Unlike `audit-begin`, works without the access log.
 */
export const checkLog = operation(z.object({}), async ({ vault }) => ({
  public_key: (await vault.keys.signingKey()).publicKey,
  log_id: (await logIdentity(vault.storedLog))?.logId ?? null,
  forged: await expectContinuity(vault, wholePages(vault.log)).then(() => null, whatIsForged),
}));

function whatIsForged(error: unknown): string {
  if (error instanceof ForgedLog) return error.what;
  throw error;
}

/** Starts rotating all keys. `rotationState` returns the progress. */
export const rotateKeys = operation(z.object({}), async ({ rotation }) => {
  rotation.start();
  return rotation.state();
});

export const rotationState = operation(z.object({}), async ({ rotation }) => rotation.state());

/** Records that the operator has confirmed the clock. */
export const confirmClock = operation(z.object({}), async (service) => ({ was: await service.confirmClock() }));

const authenticated = z.enum(['manifest', 'erased-keys']);

/** Returns the MAC for one part of a backup. Only the vault has the key for this MAC. */
export const backupMac = operation(
  z.object({ of: authenticated, text: z.string() }),
  async ({ vault }, { of, text }) => ({
    mac: macOf(vault.integrity.backups, of, text),
  }),
);

/** Returns true if `mac` (in hex) was computed with this key for this part of a backup. */
export function isBackupMac(mac: string, key: Uint8Array, of: z.infer<typeof authenticated>, text: string): boolean {
  return timingSafeEqual(Buffer.from(mac, 'hex'), Buffer.from(macOf(key, of, text), 'hex'));
}

function macOf(key: Uint8Array, of: z.infer<typeof authenticated>, text: string): string {
  return keyedHash(key, purposes[of], text);
}

/**
 * The purpose that is included in the MAC of each part. Every part has a different purpose, so the MAC for one part is
 * never valid for another.
 */
const purposes = { manifest: 'strongroom.backup.1', 'erased-keys': 'strongroom.erased-keys.1' } as const;
