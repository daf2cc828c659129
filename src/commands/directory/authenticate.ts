import type { Caller } from '../../domain/access/caller.js';
import { apiKeyHash, isWellFormedApiKey } from '../../domain/directory/api-key.js';
import type { ApplicationDocument } from '../../domain/directory/documents.js';
import type { Vault } from '../vault.js';
import { applicationDocument } from './open-directory.js';

const cacheMs = 1_000;
const cacheEntriesMax = 10_000;

type Known = { readonly caller: Caller; readonly expiresAt: number | null; readonly until: number };

/**
 * Who a key belongs to; null when it is malformed, unknown, revoked or expired, which the answer must not tell apart.
 * What is known of a key is kept for one second.
 */
export function createAuthenticate(vault: Vault): (key: string) => Promise<Caller | null> {
  const cache = new Map<string, Known>();

  async function lookUp(hash: string, now: number): Promise<Known | null> {
    const record = await vault.directory.byKeyHash(hash);
    const application = record === null ? null : await applicationDocument(vault, record);
    const key = application?.keys.find((candidate) => candidate.hash === hash);
    if (record === null || application === null || key === undefined) return null;
    const { id: applicationId, tenantId } = record;
    const { type: applicationType, expires_at: expiresAt } = application;
    const caller = { tenantId, applicationId, keyId: key.id, applicationType, access: accessOf(application) };
    return { caller, expiresAt, until: now + cacheMs };
  }

  return async function authenticate(key: string): Promise<Caller | null> {
    if (!isWellFormedApiKey(key)) return null;
    const hash = apiKeyHash(key);
    const now = vault.clock.now();
    const cached = cache.get(hash);
    const known = cached !== undefined && now < cached.until ? cached : await lookUp(hash, now);
    if (known === null) return null;
    if (known !== cached) {
      if (cache.size >= cacheEntriesMax) cache.clear();
      cache.set(hash, known);
    }
    return known.expiresAt !== null && now >= known.expiresAt ? null : known.caller;
  };
}

function accessOf({ access }: ApplicationDocument): Caller['access'] {
  if (access.kind === 'rules') return access;
  return { kind: 'permissions', permissions: new Set(access.permissions) };
}
