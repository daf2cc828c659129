import { noToken, type TokenLife, type TokenState } from '../../../domain/token/token-state.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';

/** The row columns that make up a view. */
export type TokenRow = StateColumns & {
  readonly stream: string;
  readonly content: Buffer | null;
  readonly cvc: Buffer | null;
  readonly mac: Buffer;
};

/** The row columns that make up a state. They precede the ciphertexts, so SQLite reads no page that has only those. */
export type StateColumns = { readonly tenant: string; readonly revision: number; readonly state: string };

export const stateColumns = 'tenant, revision, state';
export const viewColumns = `stream, ${stateColumns}, content, cvc, mac`;

/** The members of a life that a row leaves out if they have these values, as they have in most rows. */
const usual = {
  createdRevision: 0,
  modifiedAt: null,
  modifiedBy: null,
  expiresAt: null,
  contentRevision: 0,
  superseded: [],
  cvc: null,
} as const;

/**
 * Returns the state as a row stores it: without what other columns contain, and without what is usual. Leaves out ended
 * keys. Their list grows with each update, and code that needs it folds the stream.
 */
export function stateText({ life }: TokenState): string {
  if (life === null) return JSON.stringify({ life });
  const { createdRevision, contentRevision, superseded } = life;
  // JSON has no members that are undefined.
  const stored = {
    ...life,
    tenantId: undefined,
    createdRevision: createdRevision === usual.createdRevision ? undefined : createdRevision,
    modifiedAt: life.modifiedAt ?? undefined,
    modifiedBy: life.modifiedBy ?? undefined,
    expiresAt: life.expiresAt ?? undefined,
    contentRevision: contentRevision === usual.contentRevision ? undefined : contentRevision,
    superseded: superseded.length === 0 ? undefined : superseded,
    cvc: life.cvc ?? undefined,
  };
  return JSON.stringify({ life: stored });
}

/** Returns the view in a row of `token_rows`. */
export function viewOf({ stream, content, cvc, mac, ...row }: TokenRow): Stored<TokenView> {
  return { stream, tenantId: row.tenant, state: stateOf(row), content, cvc, mac };
}

/** Returns the state in a row. Rows of older versions contain all members of it. */
export function stateOf({ tenant, revision, state }: StateColumns): TokenState {
  try {
    const { life } = JSON.parse(state) as { readonly life: TokenLife | null };
    if (life === null) return { revision, life, ended: [] };
    return { revision, life: { ...usual, ...life, tenantId: tenant }, ended: [] };
  } catch {
    // Threat: an attacker with write access to the file changed the row. No MAC is valid for this state.
    return noToken;
  }
}
