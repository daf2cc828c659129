import type { ConsoleMembership } from '../vault/authentic-console-sessions.js';
import type { GroupRule } from './groups.js';

/**
 * The secrets for one sign-in. The sign-in URL contains `state`, `nonce` and a hash of `codeVerifier`, but not
 * `codeVerifier` itself.
 */
export type SignInSecrets = { readonly state: string; readonly nonce: string; readonly codeVerifier: string };

/** A person's identity, as stated by an identity provider. */
export type ProvidedPerson = { readonly name: string; readonly membership: ConsoleMembership };

/**
 * `denied`: the provider did not sign the person in.
 * `rejected`: the response is invalid. `unavailable`: the provider does not respond or responds with an error.
 */
export type ProviderFault = 'denied' | 'rejected' | 'unavailable';

export type ProviderResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: ProviderFault; readonly reason: string };

/** An identity provider with which people sign in to the console. */
export type IdentityProvider = {
  /** The issuer URL in the provider's ID tokens. */
  readonly issuer: string;
  readonly rules: readonly GroupRule[];
  /** Returns the URL at the provider where a person signs in. */
  signInAddress(secrets: SignInSecrets): Promise<ProviderResult<string>>;
  /** Returns the person whom the provider signed in. `query` is the callback's query string. */
  personOf(query: string, secrets: SignInSecrets): Promise<ProviderResult<ProvidedPerson>>;
};

/** The path in the console to which the provider redirects people after a sign-in. */
export const callbackPath = '/sign-in/callback';
