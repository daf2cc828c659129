import type { Caller } from '../domain/access/caller.js';
import { apiKeyHash, isWellFormedApiKey } from '../domain/tenancy/api-key.js';
import { accessOf } from '../domain/tenancy/documents.js';
import { latestNow, steadyNow } from '../ports/clock.js';
import type { Directory } from '../ports/directory.js';
import type { Maybe } from '../ports/maybe.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import { ForgedRow } from './forged-row.js';
import type { KnownCaller } from './known-callers.js';
import { applicationDocument, openTenant } from './open-directory.js';
import type { Vault } from './vault.js';

type Authenticate = {
  /**
   * Returns the caller that an API key belongs to. `authenticateHash` accepts the hash of the key (`apiKeyHash`)
   * instead of the key.
   */
  authenticate(key: string): Maybe<Caller | null>;
  authenticateHash(hash: string): Maybe<Caller | null>;
  /**
   * Returns a caller for one of the tenant's live applications, which is identified by its id instead of an API key.
   * Use this function for a person whom an identity provider has authenticated. Threat: a person sends the id of an
   * application that the person has no access to. Pass only ids from the settings, and never an id from a request.
   */
  authenticateApplication(tenantId: string, applicationId: string): Maybe<Caller | null>;
};

/** How to find a caller that is not in the cache. `onFound` runs after the caller has been cached. */
type LookUp = {
  lookUpOne(): Promise<KnownCaller | null>;
  onFound(now: number): Promise<void>;
};

/**
 * Creates the functions that find the caller for a key. They return null for a malformed, unknown, revoked or expired
 * key, because the response must not reveal which of these cases applies. A result is cached for one second, or until
 * the tenant's directory changes. A key in a forged record is reported, and rejected in the same way as an unknown key.
 */
export function createAuthenticate(
  vault: Pick<Vault, 'clock' | 'directory' | 'keys' | 'knownCallers' | 'reportDamage'>,
): Authenticate {
  const { clock, directory, knownCallers } = vault;
  const noteUse = createKeyUse(directory);

  async function lookUp(hash: string): Promise<KnownCaller | null> {
    const record = await directory.byKeyHash(hash);
    const key = record?.keys.find((candidate) => candidate.hash === hash);
    if (record === null || key === undefined) return null;
    const opened = await openCaller(record, key.id);
    if (opened === null) return null;
    // Threat: an attacker who can write the rows adds the hash of a key to a row. The key is accepted only if the
    // encrypted document lists it, because that document contains the keys that were really issued.
    return opened.keys.some(({ id, hash: issued }) => id === key.id && issued === hash) ? opened.known : null;
  }

  async function lookUpApplication(tenantId: string, applicationId: string): Promise<KnownCaller | null> {
    const record = await directory.get('application', applicationId);
    if (record === null || record.tenantId !== tenantId) return null;
    return (await openCaller(record, null))?.known ?? null;
  }

  /** Returns the caller for an application's record, and the keys that the application's encrypted document lists. */
  async function openCaller(record: DirectoryRecord, keyId: string | null) {
    const { id: applicationId, tenantId } = record;
    const tenantRecord = await directory.get('tenant', tenantId);
    const tenant = tenantRecord === null ? null : await openTenant(vault, tenantRecord);
    if (tenant === null) return null;
    const application = await applicationDocument(vault, record);
    if (application === null) return null;
    const { type: applicationType, expires_at: expiresAt, access } = application;
    const who = { tenantId, applicationId, keyId, applicationType };
    const caller = { ...who, access: accessOf(access), tenantSettings: tenant.settings };
    return { known: { caller, expiresAt }, keys: application.keys };
  }

  async function authentic(lookUpOne: () => Promise<KnownCaller | null>): Promise<KnownCaller | null> {
    try {
      return await lookUpOne();
    } catch (error) {
      if (!(error instanceof ForgedRow)) throw error;
      vault.reportDamage(error);
      return null;
    }
  }

  async function lookUpAndKeep(name: string, { lookUpOne, onFound }: LookUp): Promise<Caller | null> {
    const keep = knownCallers.lookUp(steadyNow(clock));
    const known = await authentic(lookUpOne);
    if (known === null || isOver(known)) return null;
    keep(name, known);
    await onFound(clock.now());
    return known.caller;
  }

  /** Threat: an expired application works again when the clock is set back. */
  function isOver({ expiresAt }: KnownCaller): boolean {
    return expiresAt !== null && latestNow(clock) >= expiresAt;
  }

  /** Returns the cached caller, or looks the caller up if it is not in the cache. */
  function cached(name: string, byName: LookUp): Maybe<Caller | null> {
    // Threat: a revoked key keeps working in this process while the clock is set back. The age of an entry is therefore
    // measured with a clock that never steps.
    const known = knownCallers.get(name, steadyNow(clock));
    if (known === undefined) return lookUpAndKeep(name, byName);
    return isOver(known) ? null : known.caller;
  }

  function authenticateHash(hash: string): Maybe<Caller | null> {
    return cached(hash, { lookUpOne: () => lookUp(hash), onFound: (now) => noteUse(hash, now) });
  }

  return {
    // Rejects a malformed key without a look-up.
    authenticate: (key) => (isWellFormedApiKey(key) ? authenticateHash(apiKeyHash(key)) : null),
    authenticateHash,
    // A cache name of this form is never equal to the hash of a key.
    authenticateApplication: (tenantId, applicationId) =>
      cached(`application:${tenantId}:${applicationId}`, {
        lookUpOne: () => lookUpApplication(tenantId, applicationId),
        onFound: async () => undefined,
      }),
  };
}

const minuteMs = 60_000;

/**
 * Records the minute in which a key was last used, so that operators can find unused keys. Writes at most once per key
 * per minute. No request waits for this write. If a write is lost, the next look-up of the key repeats it. The time is
 * stored in the row, not in an event: no access decision depends on it, and events are never removed from the log.
 */
export function createKeyUse(
  directory: Pick<Directory, 'keyUsedIn' | 'markKeyUsed'>,
): (keyHash: string, now: number) => Promise<void> {
  const writing = new Set<string>();

  return async function noteUse(keyHash, now) {
    if (writing.has(keyHash)) return;
    const usedIn = await directory.keyUsedIn(keyHash);
    const minute = Math.floor(now / minuteMs);
    if ((usedIn !== null && usedIn >= minute) || writing.has(keyHash)) return;
    writing.add(keyHash);
    directory
      .markKeyUsed(keyHash, minute)
      .catch(() => undefined)
      .finally(() => writing.delete(keyHash));
  };
}
