import type { TokenState } from '../../domain/token/token-state.js';
import type { TokenView } from '../../projections/token-view.js';

/** The columns `stream, tenant, state, content, cvc` of a row. */
export type TokenRow = {
  readonly stream: string;
  readonly tenant: string;
  readonly state: string;
  readonly content: Buffer | null;
  readonly cvc: Buffer | null;
};

/** The view that a row of `token_rows` holds. */
export function viewOf({ stream, tenant, state, content, cvc }: TokenRow): TokenView {
  return { stream, tenantId: tenant, state: JSON.parse(state) as TokenState, content, cvc };
}
