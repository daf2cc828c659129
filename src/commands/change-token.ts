import type { TenantKeys } from '../ports/key-ring.js';
import type { Vault } from '../vault/vault.js';
import type { ClaimResult } from '../views/finished-claim.js';
import type { TokenView } from '../views/token-view.js';
import { changeTokens, type TokenWrite } from './change-tokens.js';
import type { RequestOrigin } from './event-origin.js';

/** The result of one attempt at a command, after it has read the stream. */
export type Attempt<T> =
  | { readonly do: 'answer'; readonly answer: T }
  | (Omit<TokenWrite, 'view'> & {
      readonly do: 'store';
      /** The token that a repeat of the request returns, if it is not the token itself. */
      readonly claims?: ClaimResult;
      /** The request carried every value that the fingerprint is computed from. */
      readonly carriesFingerprint?: boolean;
      answer(view: TokenView): T;
    });

/** The token to change: its stream, and the keys of its tenant. Without keys, no trace id is stored. */
export type Target = {
  readonly tenantId: string;
  readonly tenantKeys: TenantKeys | null;
  readonly stream: string;
  /** Its name was just generated at random. */
  readonly isNew?: boolean;
};

/** Changes one token, like `changeTokens`. */
export function changeToken<T>(
  vault: Vault,
  { tenantId, tenantKeys, stream, isNew = false }: Target,
  origin: RequestOrigin,
  attempt: (view: TokenView, at: number) => Promise<Attempt<T>>,
): Promise<T> {
  const targets = { tenantId, tenantKeys, streams: new Set([stream]), areNew: isNew };
  return changeTokens<T>(vault, targets, origin, async (viewOf, at) => {
    const view = viewOf(stream);
    const tried = await attempt(view, at);
    if (tried.do === 'answer') return tried;
    return {
      do: 'store',
      writes: [{ view, ...tried }],
      claim: (after) => tried.claims ?? claimOf(after(stream), tried.carriesFingerprint ?? false),
      answer: (after) => tried.answer(after(stream)),
    };
  });
}

function claimOf({ stream, state }: TokenView, carriesFingerprint: boolean): ClaimResult | null {
  if (state.life === null) return null;
  const { createdRevision, contentRevision } = state.life;
  const carried = carriesFingerprint ? { carriedContent: contentRevision } : {};
  return { tokens: [{ stream, createdRevision, ...carried }] };
}
