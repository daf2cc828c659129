import type { ConsoleMembership } from '../vault/authentic-console-sessions.js';
import type { GroupRule } from './groups.js';

/**
 * The secrets of one sign-in. The sign-in URL contains `state`, `nonce` and a hash of `codeVerifier`, but not
 * `codeVerifier` itself.
 */
export type SignInSecrets = { readonly state: string; readonly nonce: string; readonly codeVerifier: string };

/** A person and their groups, according to an identity provider. */
export type ProvidedPerson = { readonly name: string; readonly membership: ConsoleMembership };

/**
 * The reason why a sign-in failed.
 * - `denied`: the provider did not sign the person in.
 * - `rejected`: the provider's response is invalid.
 * - `unavailable`: the provider does not respond, or responds with an error.
 */
export type ProviderFault = 'denied' | 'rejected' | 'unavailable';

export type ProviderResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: ProviderFault; readonly reason: string };

/** An identity provider that people can use to sign in to the console. */
export type IdentityProvider = {
  /** The issuer URL that the provider's ID tokens contain. */
  readonly issuer: string;
  readonly rules: readonly GroupRule[];
  /** Returns the URL of the provider's sign-in page. */
  signInAddress(secrets: SignInSecrets): Promise<ProviderResult<string>>;
  /** Returns the person whom the provider signed in. `query` is the query string of the callback request. */
  personOf(query: string, secrets: SignInSecrets): Promise<ProviderResult<ProvidedPerson>>;
};

/** The console path to which the provider redirects people after a sign-in. */
export const callbackPath = '/sign-in/callback';
