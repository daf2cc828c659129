import type { Claims } from '../ports/claims.js';
import type { ClaimResult, FinishedClaim } from '../views/finished-claim.js';
import { isAuthenticClaim } from '../views/row-mac.js';
import { ForgedRow } from './forged-row.js';

export type AuthenticClaims = Omit<Claims, 'begin' | 'page'> & {
  /** Same as `Claims.begin`, but throws ForgedRow if the result is a finished claim that the vault did not write. */
  begin(
    cmd: string,
    notBefore: number,
  ): Promise<
    | { readonly state: 'fresh' }
    | { readonly state: 'in_flight' }
    | { readonly state: 'done'; readonly result: ClaimResult }
  >;
  /** Same as `Claims.page`, but returns null in place of a claim that is not authentic. */
  page(
    afterCmd: string,
    limit: number,
  ): Promise<readonly { readonly cmd: string; readonly claim: FinishedClaim | null }[]>;
};

/**
 * Verifies the MAC of every finished claim. The verification is independent of the store, so it protects the claims in
 * every store. Threat: an attacker who can write the rows changes a claim, so that a retry returns a different token or
 * an attacker-chosen result.
 */
export function authenticClaims(claims: Claims, key: Uint8Array): AuthenticClaims {
  return {
    async begin(cmd, notBefore) {
      const begun = await claims.begin(cmd, notBefore);
      if (begun.state !== 'done') return begun;
      const { claim } = begun;
      // Threat: an attacker replaces this claim with a different claim that is authentic.
      if (claim.cmd !== cmd || !isAuthenticClaim(key, claim)) {
        throw new ForgedRow({ of: 'claim', name: cmd }, 'not_authentic');
      }
      return { state: 'done', result: claim.result };
    },
    release: (cmd) => claims.release(cmd),
    forget: (notBefore) => claims.forget(notBefore),
    async page(afterCmd, limit) {
      const stored = await claims.page(afterCmd, limit);
      return stored.map((claim) => ({ cmd: claim.cmd, claim: isAuthenticClaim(key, claim) ? claim : null }));
    },
  };
}
