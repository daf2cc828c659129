import { timingSafeEqual } from 'node:crypto';
import { hmac } from '../events/sealing/hashes.js';
import type { DirectoryRecord } from './directory-view.js';
import type { ClaimedToken, FinishedClaim } from './finished-claim.js';
import type { TokenView } from './token-view.js';

/**
 * A row with its message authentication code (MAC). The store saves the MAC together with the row, but never uses it.
 */
export type Stored<T> = T & { readonly mac: Uint8Array };

/**
 * Adds a token row's MAC: HMAC-SHA-256 over every fact that access depends on, and over the ciphertexts. The MAC does
 * not cover `ended`, because no row contains it. It also does not cover `createdPosition`, because the store determines
 * it, and it is used only to order tokens.
 */
export function withTokenMac(key: Uint8Array, view: TokenView): Stored<TokenView> {
  const { stream, tenantId, state, content, cvc } = view;
  return { stream, tenantId, state, content, cvc, mac: tokenMac(key, view) };
}

/** Adds a MAC to a tenant or application row. The MAC covers all fields. */
export function withDirectoryMac(key: Uint8Array, record: DirectoryRecord): Stored<DirectoryRecord> {
  return { ...record, mac: directoryMac(key, record) };
}

/**
 * Adds a MAC to a claim. The MAC covers the request, the time, and everything needed to render the response to a retry.
 */
export function withClaimMac(key: Uint8Array, claim: FinishedClaim): Stored<FinishedClaim> {
  return { ...claim, mac: claimMac(key, claim) };
}

/**
 * Returns true if the vault wrote this token row. Accepts anything that a store may return, including malformed rows.
 */
export function isAuthenticToken(key: Uint8Array, stored: Stored<TokenView>): boolean {
  return isMac(stored.mac, () => tokenMac(key, stored));
}

/** Returns true if the vault wrote this directory row. */
export function isAuthenticRecord(key: Uint8Array, stored: Stored<DirectoryRecord>): boolean {
  return isMac(stored.mac, () => directoryMac(key, stored));
}

/** Returns true if the vault wrote this claim. */
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

/**
 * Returns the MAC of a claim. `cmd` is a keyed hash of the tenant, the application, the path and the idempotency key.
 */
function claimMac(key: Uint8Array, { cmd, time, result }: FinishedClaim): Buffer {
  const { tokens, application, webhookId } = result;
  const issued = application == null ? null : [application.id, application.keyId];
  const facts = ['strongroom.claim.1', cmd, time, tokens.map(claimedFacts), issued];
  return mac(key, webhookId == null ? facts : [...facts, webhookId], null, null);
}

/** Treats null and absent as equal, because a store may return an absent field as null. */
function claimedFacts({ stream, createdRevision, carriedContent, deduplicated, cvcIgnored }: ClaimedToken): unknown[] {
  return [stream, createdRevision, carriedContent ?? null, deduplicated ?? false, cvcIgnored ?? false];
}

/**
 * Returns a MAC over the facts and the ciphertexts. Different inputs always produce different bytes, because the facts
 * include the length of each ciphertext and different lists of facts have different JSON.
 */
function mac(key: Uint8Array, facts: readonly unknown[], content: Uint8Array | null, cvc: Uint8Array | null): Buffer {
  return hmac(key, Buffer.from(JSON.stringify(facts)), content ?? nothing, cvc ?? nothing);
}

const nothing = new Uint8Array();

function isMac(stored: Uint8Array, compute: () => Buffer): boolean {
  try {
    const computed = compute();
    return stored.length === computed.length && timingSafeEqual(stored, computed);
  } catch {
    // Threat: an attacker stores fields with unexpected types, which make the computation throw.
    return false;
  }
}
