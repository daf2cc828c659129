import type { Caller } from '../domain/access/caller.js';
import { apiKeyHash, isWellFormedApiKey } from '../domain/tenancy/api-key.js';
import { accessOf } from '../domain/tenancy/documents.js';
import type { Maybe } from '../ports/maybe.js';
import { ForgedRow } from './forged-row.js';
import { createKeyUse } from './key-use.js';
import type { KnownCaller } from './known-callers.js';
import { applicationDocument, openTenant } from './open-directory.js';
import type { Vault } from './vault.js';

/** Each returns the caller that a key belongs to: by the key itself, or by its hash (`apiKeyHash`). */
type Authenticate = {
  authenticate(key: string): Maybe<Caller | null>;
  authenticateHash(hash: string): Maybe<Caller | null>;
};

/**
 * Returns what finds the caller that a key belongs to. It returns null for a malformed, unknown, revoked or expired key: the response
 * must not tell these apart. The result is cached for one second, or until the tenant's directory changes. A key of a
 * record that was tampered with is rejected like an unknown one, and reported to `onForged`.
 */
export function createAuthenticate(vault: Vault, onForged: (error: ForgedRow) => void): Authenticate {
  const { clock, directory, knownCallers } = vault;
  const noteUse = createKeyUse(directory);

  async function lookUp(hash: string): Promise<KnownCaller | null> {
    const record = await directory.byKeyHash(hash);
    const key = record?.keys.find((candidate) => candidate.hash === hash);
    if (record === null || key === undefined) return null;
    const { id: applicationId, tenantId } = record;
    const tenantRecord = await directory.get('tenant', tenantId);
    const tenant = tenantRecord === null ? null : await openTenant(vault, tenantRecord);
    if (tenant === null) return null;
    const application = await applicationDocument(vault, record);
    if (application === null) return null;
    // Threat: an attacker that can write the rows planted a hash. The encrypted document names the keys that were
    // issued.
    if (!application.keys.some(({ id, hash: issued }) => id === key.id && issued === hash)) return null;
    const { type: applicationType, expires_at: expiresAt, access } = application;
    const who = { tenantId, applicationId, keyId: key.id, applicationType };
    return { caller: { ...who, access: accessOf(access), tenantSettings: tenant.settings }, expiresAt };
  }

  async function authenticLookUp(hash: string): Promise<KnownCaller | null> {
    try {
      return await lookUp(hash);
    } catch (error) {
      if (!(error instanceof ForgedRow)) throw error;
      onForged(error);
      return null;
    }
  }

  async function lookUpAndKeep(hash: string, now: number): Promise<Caller | null> {
    const keep = knownCallers.lookUp(now);
    const known = await authenticLookUp(hash);
    if (known === null || isOver(known, now)) return null;
    keep(hash, known);
    await noteUse(hash, now);
    return known.caller;
  }

  function authenticateHash(hash: string): Maybe<Caller | null> {
    const now = clock.now();
    const known = knownCallers.get(hash, now);
    if (known === undefined) return lookUpAndKeep(hash, now);
    return isOver(known, now) ? null : known.caller;
  }

  return {
    // Rejects a mistyped key without a look-up.
    authenticate: (key) => (isWellFormedApiKey(key) ? authenticateHash(apiKeyHash(key)) : null),
    authenticateHash,
  };
}

function isOver({ expiresAt }: KnownCaller, now: number): boolean {
  return expiresAt !== null && now >= expiresAt;
}
