import { noToken, type TokenState } from '../../../domain/token/token-state.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';

/** The columns of a token row that make up a view. */
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
    // Threat: an attacker who can write to `vault.db` replaces the state with invalid JSON. The state returned here
    // then does not match the row's MAC, so the row is rejected.
    return noToken;
  }
}
