import { after } from '../ports/maybe.js';
import type { HeldRows, PageRequest, SearchPage, SearchPlan } from '../ports/search-plan.js';
import type { TokenRows } from '../ports/token-rows.js';
import { isAuthenticToken, type Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';
import { ForgedRow } from './forged-row.js';

/** The rows of tokens as commands read them: the vault wrote each of them, but it may be an older version. */
export type AuthenticTokenRows = Omit<TokenRows<TokenView>, 'search' | 'page'> & {
  /** Like `TokenRows.search`, with rows that are verified, and those that the caller holds. */
  search(plan: SearchPlan, page: PageRequest & HeldRows<TokenView>): Promise<SearchPage<TokenView>>;
  /** Like `TokenRows.page`, with null for a row that is not authentic. */
  page(
    afterStream: string,
    limit: number,
  ): Promise<readonly { readonly stream: string; readonly view: TokenView | null }[]>;
};

/**
 * Verifies the MAC of every row that is read, above the port, for every store. The index of rows (terms, fingerprints,
 * due times, positions) is not authenticated, because no access depends on it. Throws ForgedRow.
 */
export function authenticTokenRows(rows: TokenRows, key: Uint8Array): AuthenticTokenRows {
  const verified = (stored: Stored<TokenView>): TokenView => {
    if (!isAuthenticToken(key, stored)) throw new ForgedRow({ of: 'token', name: stored.stream }, 'not_authentic');
    return viewOf(stored);
  };
  return {
    ...rows,
    get: (stream) =>
      after(rows.get(stream), (stored) => {
        // Threat: a damaged index or schema leads to the row of another token.
        if (stored !== null && stored.stream !== stream)
          throw new ForgedRow({ of: 'token', name: stream }, 'not_authentic');
        return stored === null ? null : verified(stored);
      }),
    async search(plan, page) {
      const heldRow = (stream: string, revision: number): HeldRow | undefined => {
        const view = page.held?.(stream, revision);
        return view === undefined ? undefined : { view };
      };
      const found = await rows.search<HeldRow>(plan, { ...page, held: heldRow });
      const views = found.rows.map((row) => ofTenant('view' in row ? row.view : verified(row), plan.tenantId));
      return { ...found, rows: views };
    },
    walk: async (plan, step) => (await rows.walk(plan, step)).map((row) => ofTenant(verified(row), plan.tenantId)),
    async page(afterStream, limit) {
      const stored = await rows.page(afterStream, limit);
      return stored.map((row) => ({ stream: row.stream, view: isAuthenticToken(key, row) ? viewOf(row) : null }));
    },
  };
}

/** A row on a page that the caller holds, and that was verified before. */
type HeldRow = { readonly view: TokenView };

/** Returns the part of the state that the MAC covers. No row contains `ended`. */
function viewOf({ stream, tenantId, state: { revision, life }, content, cvc }: TokenView): TokenView {
  return { stream, tenantId, state: { revision, life, ended: [] }, content, cvc };
}

/** Threat: a damaged index or schema finds a row of another tenant. */
function ofTenant(view: TokenView, tenantId: string): TokenView {
  if (view.tenantId !== tenantId) throw new ForgedRow({ of: 'token', name: view.stream }, 'not_authentic');
  return view;
}
