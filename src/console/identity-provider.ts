import type { ConsoleMembership } from '../vault/authentic-console-sessions.js';
import type { GroupRule } from './groups.js';

/** The secrets of one sign-in. The identity provider learns `state` and `nonce`, and only a hash of `codeVerifier`. */
export type SignInSecrets = { readonly state: string; readonly nonce: string; readonly codeVerifier: string };

/** Who an identity provider says that a person is. */
export type ProvidedPerson = { readonly name: string; readonly membership: ConsoleMembership };

/**
 * `denied`: the provider did not sign the person in.
 * `rejected`: the response is not valid. `unavailable`: the provider does not respond, or not as it should.
 */
export type ProviderFault = 'denied' | 'rejected' | 'unavailable';

export type ProviderResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: ProviderFault; readonly reason: string };

/** The identity provider with which people sign in to the console. */
export type IdentityProvider = {
  /** The URL that its ID tokens name. */
  readonly issuer: string;
  readonly rules: readonly GroupRule[];
  /** Returns the address at the provider where a person signs in. */
  signInAddress(secrets: SignInSecrets): Promise<ProviderResult<string>>;
  /** Returns the person whom the provider signed in. `query` is the query string that it sent to the callback. */
  personOf(query: string, secrets: SignInSecrets): Promise<ProviderResult<ProvidedPerson>>;
};

/** The path to which the provider sends people back. */
export const callbackPath = '/sign-in/callback';
