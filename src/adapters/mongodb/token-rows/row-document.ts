import type { TokenLife } from '../../../domain/token/token-state.js';
import type { TokenType } from '../../../domain/token/types/token-type.js';
import type { RowIndex } from '../../../ports/unit-of-work.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import { termsDigest } from '../../shared/terms-digest.js';

/** The fields that searches and fingerprint lookups use to find a live row. Keyed hashes are stored as bytes. */
type Found = {
  readonly fingerprint: Buffer;
  readonly terms: readonly Buffer[];
  /**
   * A hash of the row's terms in both generations. Present only if the row was written to the new generation during a
   * rebuild.
   */
  readonly mark?: Buffer;
};

/** A live row without its search fields. A field is absent if the token does not have that time or ciphertext. */
type Living = {
  readonly tenant: string;
  readonly revision: number;
  /**
   * The folded state without the list of ended keys. The list is not stored, because it grows with every update. Code
   * that needs it folds the stream.
   */
  readonly life: TokenLife;
  readonly type: TokenType;
  /** The position of the event that created the token. Lists are sorted by this position. */
  readonly seq: number;
  readonly created_at: number;
  readonly modified_at?: number;
  readonly expires_at?: number;
  readonly cvc_purge_at?: number;
  readonly content?: Buffer;
  readonly cvc?: Buffer;
  /** The MAC over the ciphertexts and over the facts that determine who may read the row. */
  readonly mac: Buffer;
};

/**
 * The row of a token that is gone. It has no ciphertext, terms or fingerprint. It records only that the token's life
 * ended at this revision.
 */
type Tombstone = {
  readonly tenant: string;
  readonly revision: number;
  readonly life: null;
  readonly removed_at: number;
  readonly mac: Buffer;
};

type RowFields = (Living & Found) | Tombstone;

/** A document in `token_rows_<generation>`. Each stream has one document. */
export type RowDocument = { readonly _id: string } & RowFields;

/** The fields of `RowDocument` needed for a view. */
export const viewFields = { tenant: 1, revision: 1, life: 1, content: 1, cvc: 1, mac: 1 } as const;

/** The fields that can be absent from a live row. An update removes each of these fields that it does not set. */
const optional = ['modified_at', 'expires_at', 'cvc_purge_at', 'content', 'cvc'] as const;

/**
 * The generation that a row is written to. If the row will be compared with the row in the generation that is currently
 * read, `read` is that generation. Otherwise `read` is null.
 */
export type RowGeneration = { readonly generation: number; readonly read: number | null };

/** Returns the complete row for a view. `removedAt` (ms since the epoch) is used only if the token is gone. */
export function rowOf(
  view: Stored<TokenView>,
  index: Exclude<RowIndex, 'keep'> | null,
  { generation, read }: RowGeneration,
  removedAt: number,
): RowFields {
  const { tenantId: tenant, state } = view;
  const { revision, life } = state;
  if (life === null) return { tenant, revision, life, removed_at: removedAt, mac: Buffer.from(view.mac) };
  if (index === null) throw new Error('a new row must have its index entries');
  const terms = index.terms[generation];
  if (terms === undefined) throw new Error('a row must have its index entries for each generation');
  const others = read === null ? undefined : index.terms[read];
  const found = {
    fingerprint: hashBytes(index.fingerprintHash),
    terms: terms.map(hashBytes),
    ...(others === undefined ? {} : { mark: termsDigest(hashBytes(others.join('')), hashBytes(terms.join(''))) }),
  };
  return { ...livingOf(view, life), ...found };
}

/** Returns the update that writes a view to a live row without changing the row's search fields. */
export function keepingUpdate(view: Stored<TokenView>, life: TokenLife) {
  const set = livingOf(view, life);
  const lacking = optional.filter((field) => set[field] === undefined);
  return { $set: set, $unset: Object.fromEntries(lacking.map((field) => [field, true as const])) };
}

/** Returns the view that is stored in a row. */
export function viewOf(row: RowDocument): Stored<TokenView> {
  const { _id: stream, tenant: tenantId, revision, life, mac } = row;
  const { content = null, cvc = null } = row.life === null ? {} : row;
  return { stream, tenantId, state: { revision, life, ended: [] }, content, cvc, mac };
}

/**
 * Converts a keyed hash from hex to bytes. Throws if the string is not valid hex, because the hash would otherwise be
 * truncated and could match other hashes.
 */
export function hashBytes(hash: string): Buffer {
  const bytes = Buffer.from(hash, 'hex');
  if (bytes.length * 2 !== hash.length) throw new Error('a keyed hash must be in hexadecimal');
  return bytes;
}

function livingOf({ tenantId, state, content, cvc, mac }: Stored<TokenView>, life: TokenLife): Living {
  return {
    tenant: tenantId,
    revision: state.revision,
    life,
    type: life.tokenType,
    seq: life.createdPosition,
    created_at: life.createdAt,
    ...(life.modifiedAt === null ? {} : { modified_at: life.modifiedAt }),
    ...(life.expiresAt === null ? {} : { expires_at: life.expiresAt }),
    ...(life.cvc === null ? {} : { cvc_purge_at: life.cvc.purgeAt }),
    ...(content === null ? {} : { content: Buffer.from(content) }),
    ...(cvc === null ? {} : { cvc: Buffer.from(cvc) }),
    mac: Buffer.from(mac),
  };
}
