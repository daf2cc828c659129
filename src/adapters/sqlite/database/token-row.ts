import type { TokenLife, TokenState } from '../../../domain/token/token-state.js';
import type { TokenType } from '../../../domain/token/types/token-type.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import { streamName } from './packed-text.js';

/** The columns of a token row that make up a view, and the ciphertexts of the events that the row refers to. */
export type TokenRow = StateColumns & {
  readonly content: Buffer | null;
  readonly cvc: Buffer | null;
  readonly mac: string;
};

/** The columns of a token row that make up the token's state. */
export type StateColumns = {
  readonly stream: string;
  readonly tenant: string;
  readonly revision: number;
  readonly type: TokenType | null;
  readonly life: string | null;
  readonly seq: number | null;
  readonly created_at: number | null;
  readonly modified_at: number | null;
  readonly expires_at: number | null;
  readonly cvc_purge_at: number | null;
};

/** The columns of `StateColumns`, of the rows `r`. */
export const stateColumns = `${streamName('r.stream')} AS stream, r.tenant, r.revision, r.type, r.life, r.seq,
  r.created_at, r.modified_at, r.expires_at, r.cvc_purge_at`;

/** The columns of `TokenRow`, in a query that selects from `rowsWithCiphertexts`. */
export const viewColumns = `${stateColumns}, hex(r.mac) AS mac, content.content, cvc.cvc`;

/** The rows `r` of a table, each with the events that contain its ciphertexts. A row itself contains no ciphertext. */
export function rowsWithCiphertexts(rows: string): string {
  return `${rows} r LEFT JOIN events content ON content.position = r.content_at
    LEFT JOIN events cvc ON cvc.position = r.cvc_at`;
}

/** Returns the view in a row of `token_rows`. */
export function viewOf(row: TokenRow): Stored<TokenView> {
  const { stream, tenant, content, cvc, mac } = row;
  return { stream, tenantId: tenant, state: stateOf(row), content, cvc, mac: Buffer.from(mac, 'hex') };
}

export function stateOf(row: StateColumns): TokenState {
  return { revision: row.revision, life: row.life === null ? null : lifeOf(row, row.life), ended: [] };
}

/** The facts of a life that are stored in the column `life`. The fields after `key` are omitted if they are empty. */
type LifeFacts = readonly [
  createdRevision: number,
  contentRevision: number,
  createdBy: string,
  key: string,
  modifiedBy?: string | null,
  superseded?: readonly string[],
  cvcKey?: string,
  cvcRevision?: number,
];

/** Returns the text of the column `life`. */
export function lifeText(life: TokenLife): string {
  const { createdRevision, contentRevision, createdBy, key, modifiedBy, superseded, cvc } = life;
  const facts: unknown[] = [createdRevision, contentRevision, createdBy, key];
  if (modifiedBy !== null || superseded.length > 0 || cvc !== null) facts.push(modifiedBy, superseded);
  if (cvc !== null) facts.push(cvc.key, cvc.revision);
  return JSON.stringify(facts);
}

/**
 * Returns the life in a row, or null if the text is not valid. Threat: an attacker who can write to `vault.db` changes
 * the columns of a row. The life that is returned then does not match the row's MAC, so the row is rejected.
 */
function lifeOf(row: StateColumns, text: string): TokenLife | null {
  const facts = factsIn(text);
  if (facts === null) return null;
  const [createdRevision, contentRevision, createdBy, key, modifiedBy, superseded, cvcKey, cvcRevision] = facts;
  const cvc = { key: cvcKey as string, revision: cvcRevision as number, purgeAt: row.cvc_purge_at as number };
  return {
    tenantId: row.tenant,
    tokenType: row.type as TokenType,
    createdRevision,
    createdPosition: row.seq as number,
    createdAt: row.created_at as number,
    createdBy,
    modifiedAt: row.modified_at,
    modifiedBy: modifiedBy ?? null,
    expiresAt: row.expires_at,
    key,
    contentRevision,
    superseded: superseded ?? [],
    cvc: cvcKey === undefined ? null : cvc,
  };
}

function factsIn(text: string): LifeFacts | null {
  try {
    const facts = JSON.parse(text) as LifeFacts;
    return Array.isArray(facts) ? facts : null;
  } catch {
    return null;
  }
}
