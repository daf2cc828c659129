import { after } from '../ports/maybe.js';
import type { HeldRows, PageRequest, SearchPage, SearchPlan } from '../ports/search-plan.js';
import type { TokenRows } from '../ports/token-rows.js';
import { isAuthenticToken, type Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';
import { ForgedRow } from './forged-row.js';

/** The token rows read by commands. The vault wrote each of these rows, but a row can be an older version. */
export type AuthenticTokenRows = Omit<TokenRows<TokenView>, 'search' | 'page'> & {
  /** Same as `TokenRows.search`, but verifies the rows. Reuses the verified rows that the caller already has. */
  search(plan: SearchPlan, page: PageRequest & HeldRows<TokenView>): Promise<SearchPage<TokenView>>;
  /** Same as `TokenRows.page`, but returns null in place of a row that is not authentic. */
  page(
    afterStream: string,
    limit: number,
  ): Promise<readonly { readonly stream: string; readonly view: TokenView | null }[]>;
};

/**
 * Verifies the MAC of every row that is read. If the MAC is not valid, the read throws ForgedRow. The verification is
 * independent of the store, so it protects the rows in every store. The index of the rows (terms, fingerprints,
 * positions; in MongoDB also due times) is not authenticated, because no access decision depends on it.
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
        // Threat: an attacker damages the index or the schema, so that the store returns the row of a different token.
        if (stored !== null && stored.stream !== stream)
          throw new ForgedRow({ of: 'token', name: stream }, 'not_authentic');
        return stored === null ? null : verified(stored);
      }),
    async search(plan, page) {
      const heldRow = (stream: string, revision: number): HeldRow | undefined => {
        const view = page.held?.(stream, revision);
        return view === undefined ? undefined : { view };
      };
      const heldPage = (positions: readonly number[]): readonly HeldRow[] | undefined =>
        page.heldPage?.(positions)?.map((view) => ({ view }));
      const found = await rows.search<HeldRow>(plan, { ...page, held: heldRow, heldPage });
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

/** A row that the caller already has. It was verified when it was read. */
type HeldRow = { readonly view: TokenView };

/** Returns the part of a view covered by the MAC. Rows do not contain `ended`. */
function viewOf({ stream, tenantId, state: { revision, life }, content, cvc }: TokenView): TokenView {
  return { stream, tenantId, state: { revision, life, ended: [] }, content, cvc };
}

/**
 * Returns the view. Throws ForgedRow if the view belongs to a different tenant. Threat: an attacker damages the index
 * or the schema, so that the store returns the row of a different tenant.
 */
function ofTenant(view: TokenView, tenantId: string): TokenView {
  if (view.tenantId !== tenantId) throw new ForgedRow({ of: 'token', name: view.stream }, 'not_authentic');
  return view;
}
