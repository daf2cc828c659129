import * as client from 'openid-client';
import { isVisible, mayContainCardNumber } from '../domain/access/visitor.js';
import { type Clock, steadyNow } from '../ports/clock.js';
import type { GroupRule } from './groups.js';
import { callbackPath, type IdentityProvider, type ProviderFault, type ProviderResult } from './identity-provider.js';

export type OpenIdConnectSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  readonly nameClaim: string;
  readonly rules: readonly GroupRule[];
  /** The console's origin, as browsers see it. */
  readonly publicUrl: string;
  /** The time limit for each response from the provider. */
  readonly timeoutSeconds?: number;
};

/** How long the provider's metadata is cached, in ms. */
const metadataMs = 3_600_000;
const clockToleranceSeconds = 30;
/** The maximum size of a response from the provider, in bytes. */
const responseBytesMax = 1024 * 1024;
const nameMax = 100;

/**
 * Returns an identity provider that uses OpenID Connect: the authorization code flow with PKCE, state and nonce (RFC
 * 9700). It contacts the provider only when a person signs in. It stores none of the provider's tokens.
 */
export function createOpenIdConnect(settings: OpenIdConnectSettings, clock: Clock): IdentityProvider {
  const { issuer, clientId, clientSecret, scopes, groupsClaim, nameClaim, rules, timeoutSeconds = 5 } = settings;
  const redirectUri = `${settings.publicUrl}${callbackPath}`;
  let known: { readonly metadata: Promise<client.Configuration>; readonly until: number } | null = null;

  function discover(): Promise<client.Configuration> {
    return client.discovery(
      new URL(issuer),
      clientId,
      { [client.clockTolerance]: clockToleranceSeconds },
      // Every provider that issues client secrets supports this authentication method (RFC 6749, section 2.3.1).
      client.ClientSecretBasic(clientSecret),
      {
        timeout: timeoutSeconds,
        [client.customFetch]: boundedFetch,
        execute: [
          client.enableNonRepudiationChecks,
          // The settings allow an issuer with `http` only on loopback addresses.
          ...(issuer.startsWith('http://') ? [client.allowInsecureRequests] : []),
        ],
      },
    );
  }

  /**
   * Returns the provider's metadata for the beginning of a sign-in. Concurrent sign-ins share one request. A failure is
   * not cached, so the next sign-in requests the metadata again.
   */
  function configuration(): Promise<client.Configuration> {
    const now = steadyNow(clock);
    if (known !== null && now < known.until) return known.metadata;
    const metadata = discover();
    const current = { metadata, until: now + metadataMs };
    known = current;
    metadata.catch(() => {
      if (known === current) known = null;
    });
    return metadata;
  }

  return {
    issuer,
    rules,
    async signInAddress({ state, nonce, codeVerifier }) {
      try {
        const address = client.buildAuthorizationUrl(await configuration(), {
          redirect_uri: redirectUri,
          scope: scopes.join(' '),
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
        });
        return { ok: true, value: address.href };
      } catch (error) {
        return { ok: false, fault: 'unavailable', reason: reasonOf(error) };
      }
    },
    async personOf(query, { state, nonce, codeVerifier }) {
      // The origin comes from the settings. Threat: an attacker chooses the `Host` header, so the request's origin
      // cannot be trusted.
      const response = new URL(redirectUri);
      response.search = query;
      try {
        // Fetches the metadata and the signing keys again, because the library would keep known keys for a minute after
        // the provider has replaced them. No request without a new, unused sign-in gets here.
        const tokens = await client.authorizationCodeGrant(await discover(), response, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
        });
        const claims = tokens.claims();
        if (claims === undefined) return { ok: false, fault: 'rejected', reason: 'no ID token' };
        const { sub: subject } = claims;
        const stated = groupsIn(claimOf(claims, groupsClaim));
        const groups = [...new Set(rules.map(({ group }) => group).filter((group) => stated.includes(group)))];
        const name = statedName(claimOf(claims, nameClaim)) ?? nameIn(subject) ?? 'unnamed';
        return { ok: true, value: { name, membership: { issuer, subject, groups } } };
      } catch (error) {
        return faultOf(error);
      }
    },
  };
}

/**
 * Sends a request, and fails while the response is read if it is too large. Threat: the provider, or a server that
 * answers in its place, sends gigabytes within the time limit, and the vault runs out of memory.
 */
async function boundedFetch(url: string, options: client.CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options as RequestInit);
  const chunks: Uint8Array[] = [];
  let left = responseBytesMax;
  for await (const chunk of response.body ?? []) {
    left -= chunk.byteLength;
    if (left < 0) throw Object.assign(new Error('the response is too large'), { code: 'RESPONSE_TOO_LARGE' });
    chunks.push(chunk);
  }
  return response.body === null ? response : new Response(Buffer.concat(chunks), response);
}

/**
 * Returns a claim. Ignores an email address that the provider has not verified. Threat: an attacker enters another
 * person's address at a provider that does not verify addresses, and signs in under that person's name.
 */
function claimOf(claims: client.IDToken, name: string): unknown {
  const { email_verified: isVerified } = claims;
  return name === 'email' && (isVerified === false || isVerified === 'false') ? undefined : claims[name];
}

function groupsIn(claim: unknown): readonly unknown[] {
  return Array.isArray(claim) ? claim : [claim];
}

/**
 * Returns the name in the claim for the name. Returns null if the claim contains no name, or may contain a card number.
 * Threat: at many providers, people choose this name, and the access log still contains it after a token is erased. The
 * provider itself assigns the subject, which may be a long number.
 */
function statedName(claim: unknown): string | null {
  const name = nameIn(claim);
  return name === null || mayContainCardNumber(name) ? null : name;
}

/** Returns the name in a claim as one line. Returns null if the claim contains no name. */
function nameIn(claim: unknown): string | null {
  if (typeof claim !== 'string') return null;
  const line = claim
    .normalize()
    .replaceAll(/\p{C}+/gu, ' ')
    .trim();
  const name = [...line].slice(0, nameMax).join('').trim();
  return isVisible(name) ? name : null;
}

/**
 * The error codes for a missing or malformed response from the provider. `ofRegistration` matches the errors that the
 * provider reports about its own state or about the console's registration.
 */
const ofProvider = /^(OAUTH_TIMEOUT|OAUTH_ABORT|OAUTH_RESPONSE_IS_NOT_(CONFORM|JSON)|OAUTH_PARSE_ERROR)$/;
const ofRegistration = /^(invalid_client|unauthorized_client|server_error|temporarily_unavailable)$/;

function faultOf(error: unknown): ProviderResult<never> & { readonly ok: false } {
  return { ok: false, fault: kindOf(error), reason: reasonOf(error) };
}

function kindOf(error: unknown): ProviderFault {
  if (error instanceof client.AuthorizationResponseError) {
    return ofRegistration.test(error.error) ? 'unavailable' : 'denied';
  }
  if (error instanceof client.ResponseBodyError) return ofRegistration.test(error.error) ? 'unavailable' : 'rejected';
  if (error instanceof client.WWWAuthenticateChallengeError) return 'unavailable';
  if (error instanceof client.ClientError) {
    // A missing code means that the request itself failed.
    return error.code === undefined || ofProvider.test(error.code) ? 'unavailable' : 'rejected';
  }
  // If `fetch` cannot connect, it throws a TypeError without such a code.
  return 'unavailable';
}

/**
 * Returns a code for the log. The messages and causes of these errors contain the provider's tokens, claims and other
 * data. Threat: an attacker who can read the log finds this data.
 */
function reasonOf(error: unknown): string {
  const { code, error: answer, cause } = (error ?? {}) as Readonly<Record<'code' | 'error' | 'cause', unknown>>;
  const { code: ofCause } = (cause ?? {}) as { readonly code?: unknown };
  const codes = [answer, code, ofCause].filter((one): one is string => typeof one === 'string');
  return codes.find((one) => /^\w{1,60}$/.test(one)) ?? 'unknown';
}
