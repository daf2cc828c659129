import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type JWKS } from 'oidc-provider';
import { onTestFinished } from 'vitest';
import { createOpenIdConnect, type OpenIdConnectSettings } from '#src/console/openid-connect.js';
import type { Clock } from '#src/ports/clock.js';

type Person = Readonly<Record<string, unknown>>;

const clientId = 'strongroom-console';
const clientSecret = 'a secret with = & and : in it, which Basic must encode';

/**
 * Starts the certified OpenID provider `oidc-provider` on loopback, and stops it when the test ends. `people` maps each
 * login to the claims of that person. The provider shows its own login page, and does not ask for consent.
 */
export async function startTestProvider(publicUrl: string, people: Readonly<Record<string, Person>>) {
  const server = createServer();
  const listen = (port: number) => new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  /** Serves the provider with these signing keys, or with its default keys. */
  function serve(jwks?: JWKS): void {
    const provider = new Provider(issuer, {
      ...(jwks === undefined ? {} : { jwks }),
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [`${publicUrl}/sign-in/callback`],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
      ],
      // Like common providers, includes the claims of every scope in the ID token.
      conformIdTokenClaims: false,
      scopes: ['openid', 'profile', 'groups'],
      claims: { openid: ['sub'], profile: ['name', 'email', 'email_verified'], groups: ['groups'] },
      pkce: { required: () => true },
      cookies: { keys: ['key of a test'] },
      findAccount: (_context, login) => ({ accountId: login, claims: async () => ({ ...people[login], sub: login }) }),
      async loadExistingGrant({ oidc }) {
        const { client, session, params } = oidc;
        const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' });
        grant.addOIDCScope(String(params?.['scope']));
        await grant.save();
        return grant;
      },
    });
    server.removeAllListeners('request').on('request', provider.callback());
  }
  serve();
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(stop);

  return {
    issuer,
    clientId,
    clientSecret,
    stop,
    /** Restarts the provider at the same address. */
    start: () => listen(port),
    /** Replaces the signing key with a new one. */
    rotateKeys() {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      serve({ keys: [{ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' }] });
    },
    /** Publishes other keys than those that sign the ID tokens, under the same ids. */
    async publishOtherKeys() {
      const response = await fetch(`${issuer}/jwks`);
      const { keys } = (await response.json()) as { readonly keys: readonly Readonly<Record<string, unknown>>[] };
      const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
      const body = JSON.stringify({ keys: keys.map((key) => ({ ...key, ...other })) });
      const [serveProvider] = server.listeners('request');
      server.removeAllListeners('request').on('request', (request, reply) => {
        if (request.url === '/jwks') reply.setHeader('content-type', 'application/json').end(body);
        else serveProvider?.(request, reply);
      });
    },
    /** Returns an `IdentityProvider` that connects the console to this provider. */
    identity(clock: Clock, settings: Pick<OpenIdConnectSettings, 'rules'> & Partial<OpenIdConnectSettings>) {
      const scopes = ['openid', 'profile', 'groups'];
      const claims = { groupsClaim: 'groups', nameClaim: 'name' };
      return createOpenIdConnect({ issuer, clientId, clientSecret, publicUrl, scopes, ...claims, ...settings }, clock);
    },
    /**
     * Signs in at the provider as a browser without scripts would. Returns the address to which the provider redirects.
     */
    async signIn(address: string, login: string): Promise<string> {
      const cookies = new Map<string, string>();
      let [url, body]: [string, URLSearchParams | null] = [address, null];
      for (let step = 0; step < 10; step += 1) {
        if (url.startsWith(publicUrl)) return url;
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const request = body === null ? {} : { method: 'POST', body };
        const response: Response = await fetch(url, { ...request, redirect: 'manual', headers: { cookie } });
        for (const set of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
          cookies.set(name, value);
        }
        const location = response.headers.get('location');
        const text = await response.text();
        if (location !== null) [url, body] = [new URL(location, url).href, null];
        else if (text.includes('name="password"')) {
          body = new URLSearchParams({ prompt: 'login', login, password: 'any' });
        } else throw new Error(`the provider responds with ${response.status}: ${text}`);
      }
      throw new Error('the provider leads in circles');
    },
  };
}
