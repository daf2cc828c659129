import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DirectoryRecord } from './directory-view.js';
import type { ClaimedToken, FinishedClaim } from './finished-claim.js';
import type { TokenView } from './token-view.js';

/** A row as a store holds it: with its message authentication code, which the store passes on and never looks at. */
export type Stored<T> = T & { readonly mac: Uint8Array };

/**
 * Adds the code of a token's row: HMAC-SHA-256 over every fact that access depends on and over the ciphertexts. Left out
 * are `ended`, which no row holds, and `createdPosition`, which only the store knows and which decides nothing but an order.
 */
export function withTokenMac(key: Uint8Array, view: TokenView): Stored<TokenView> {
  return { ...view, mac: tokenMac(key, view) };
}

/** Adds the code of a tenant's or an application's row: over all of it. */
export function withDirectoryMac(key: Uint8Array, record: DirectoryRecord): Stored<DirectoryRecord> {
  return { ...record, mac: directoryMac(key, record) };
}

/** Adds the code of a claim: over the request that it belongs to, its time, and all that a repeat is rendered from. */
export function withClaimMac(key: Uint8Array, claim: FinishedClaim): Stored<FinishedClaim> {
  return { ...claim, mac: claimMac(key, claim) };
}

/** Tells whether the vault wrote this row of a token. Whatever a store returns is compared, also what is no row at all. */
export function isAuthenticToken(key: Uint8Array, stored: Stored<TokenView>): boolean {
  return isMac(stored.mac, () => tokenMac(key, stored));
}

/** Tells whether the vault wrote this row of the directory. */
export function isAuthenticRecord(key: Uint8Array, stored: Stored<DirectoryRecord>): boolean {
  return isMac(stored.mac, () => directoryMac(key, stored));
}

/** Tells whether the vault wrote this claim. */
export function isAuthenticClaim(key: Uint8Array, stored: Stored<FinishedClaim>): boolean {
  return isMac(stored.mac, () => claimMac(key, stored));
}

function tokenMac(key: Uint8Array, { stream, tenantId, state, content, cvc }: TokenView): Buffer {
  const { revision, life } = state;
  const facts: unknown[] = ['strongroom.row.token.1', stream, tenantId, revision, content?.length, cvc?.length];
  if (life !== null) {
    facts.push(life.tenantId, life.tokenType, life.createdRevision, life.createdAt, life.createdBy, life.modifiedAt);
    facts.push(life.modifiedBy, life.expiresAt, life.key, life.contentRevision, life.superseded);
    if (life.cvc !== null) facts.push(life.cvc.key, life.cvc.revision, life.cvc.purgeAt);
  }
  return mac(key, facts, content, cvc);
}

function directoryMac(key: Uint8Array, record: DirectoryRecord): Buffer {
  const { kind, id, tenantId, applicationType, revision, createdRevision, contentRevision, content, removedAt } =
    record;
  const facts = ['strongroom.row.directory.1', kind, id, tenantId, applicationType, content?.length];
  const keys = record.keys.map((apiKey) => [apiKey.hash, apiKey.id]).sort();
  return mac(key, [...facts, revision, createdRevision, contentRevision, removedAt, keys], content, null);
}

/** `cmd` is a keyed hash that names the tenant, the application, the path and the idempotency key. */
function claimMac(key: Uint8Array, { cmd, time, result: { tokens, application } }: FinishedClaim): Buffer {
  const issued = application == null ? null : [application.id, application.keyId];
  return mac(key, ['strongroom.claim.1', cmd, time, tokens.map(claimedFacts), issued], null, null);
}

/** A store may return an absent field as null; both mean the same. */
function claimedFacts({ stream, createdRevision, carriedContent, deduplicated, cvcIgnored }: ClaimedToken): unknown[] {
  return [stream, createdRevision, carriedContent ?? null, deduplicated ?? false, cvcIgnored ?? false];
}

/** The facts say how long each ciphertext is, and JSON tells every two lists of facts apart. */
function mac(key: Uint8Array, facts: readonly unknown[], content: Uint8Array | null, cvc: Uint8Array | null): Buffer {
  const hmac = createHmac('sha256', key).update(JSON.stringify(facts));
  if (content !== null) hmac.update(content);
  if (cvc !== null) hmac.update(cvc);
  return hmac.digest();
}

function isMac(stored: Uint8Array, compute: () => Buffer): boolean {
  try {
    const computed = compute();
    return stored.length === computed.length && timingSafeEqual(stored, computed);
  } catch {
    // Threat: fields of types that no row has.
    return false;
  }
}
