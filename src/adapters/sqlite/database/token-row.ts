import { noToken, type TokenState } from '../../../domain/token/token-state.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';

/** The row columns that make up a view. */
export type TokenRow = {
  readonly stream: string;
  readonly tenant: string;
  readonly state: string;
  readonly content: Buffer | null;
  readonly cvc: Buffer | null;
  readonly mac: Buffer;
};

export const viewColumns = 'stream, tenant, state, content, cvc, mac';

/** Returns the view in a row of `token_rows`. */
export function viewOf({ stream, tenant, state, content, cvc, mac }: TokenRow): Stored<TokenView> {
  return { stream, tenantId: tenant, state: stateOf(state), content, cvc, mac };
}

function stateOf(state: string): TokenState {
  try {
    return JSON.parse(state) as TokenState;
  } catch {
    // Threat: an attacker with write access to the file changed the row. No MAC matches the state that is returned
    // here, so the row will be rejected.
    return noToken;
  }
}
