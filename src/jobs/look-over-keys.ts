import { loadToken } from '../commands/load-token.js';
import type { Vault } from '../commands/vault.js';
import { findLost, type LostToken } from './end-erased.js';

const pageSize = 10_000;
const logPageSize = 1_000;
/** The search for orphans runs every hour, for keys that are an hour old. */
const orphanAgeMs = 3 * 3_600_000;

/** `lost`: living tokens with a key that does not open. `orphans`: how many old keys no event names. */
export type KeysLookedOver = { readonly lost: readonly LostToken[]; readonly orphans: number };

/** Compares all living keys with the log. Keys and tokens that come and go meanwhile are looked at twice. */
export async function lookOverKeys(vault: Vault): Promise<KeysLookedOver> {
  const living = await livingKeys(vault, Number.MAX_SAFE_INTEGER);
  const old = await livingKeys(vault, vault.clock.now() - orphanAgeMs);
  const suspected = await findLost(vault.log, (keyId) => !living.has(keyId));
  const lost: LostToken[] = [];
  for (const token of suspected) if (await isLost(vault, token)) lost.push(token);
  for (let page = await vault.log.readClear(0, logPageSize); page.length > 0; ) {
    for (const { clear } of page) for (const named of [clear['key'], clear['cvc_key']]) old.delete(String(named));
    page = await vault.log.readClear(page.at(-1)?.position ?? 0, logPageSize);
  }
  return { lost, orphans: old.size };
}

async function livingKeys({ keys }: Vault, madeBefore: number): Promise<Set<string>> {
  const living = new Set<string>();
  for (let page = await keys.made(0, madeBefore, pageSize); page.length > 0; ) {
    for (const { keyId } of page) living.add(keyId);
    page = await keys.made(page.at(-1)?.sequence ?? 0, madeBefore, pageSize);
  }
  return living;
}

async function isLost(vault: Vault, { tenantId, stream, what }: LostToken): Promise<boolean> {
  const { life } = (await loadToken(vault, tenantId, stream)).state;
  const keyId = what === 'data' ? life?.key : life?.cvc?.key;
  return keyId !== undefined && (await vault.keys.use(tenantId, keyId, () => 0)).state !== 'open';
}
