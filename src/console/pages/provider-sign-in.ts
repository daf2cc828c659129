import { cookieNames, cookieOptions, laxCookieOptions } from '../cookies.js';
import { callbackPath, type IdentityProvider, type ProviderFault } from '../identity-provider.js';
import type { ConsolePage, Visit } from '../page.js';
import { ConsoleProblem } from '../problem.js';
import { recordSignIn } from '../record-acts.js';
import { takeReturn } from '../return-address.js';
import {
  beginSignIn,
  closeReplaced,
  openedByMembership,
  openSession,
  opensNothing,
  signInMs,
  takeSignIn,
} from '../sessions.js';

/** Signs a person in with the identity provider. */
export function providerSignInPage(identity: IdentityProvider): ConsolePage {
  return {
    routes: [
      { method: 'POST', path: '/sign-in/provider', session: 'none', handle: (visit) => begin(visit, identity) },
      { method: 'GET', path: callbackPath, session: 'none', handle: (visit) => finish(visit, identity) },
    ],
  };
}

/**
 * Sends a page that takes the browser to the provider. A redirect is not possible here, because browsers apply
 * `form-action 'self'` even to a redirect that follows a form submission, and would block it.
 */
async function begin(visit: Visit, identity: IdentityProvider) {
  const { vault, request, reply } = visit;
  const begun = await beginSignIn(vault, request.cookies[cookieNames.session] ?? null);
  if (begun === null) throw new ConsoleProblem('too_many_sign_ins');
  const { token, secrets } = begun;
  const address = await identity.signInAddress(secrets);
  if (!address.ok) {
    await takeSignIn(vault, token);
    return fail(address);
  }
  reply.setCookie(cookieNames.signIn, token, { ...laxCookieOptions, maxAge: signInMs / 1_000 });
  return visit.page('onward', { address: address.value }, { title: 'Continue to your identity provider' });
}

/**
 * Completes the sign-in of a person who returns from the provider, and sends a page that takes the browser to the page
 * where the session ended, or to the overview. A redirect is not possible here, because the navigation began on a
 * different site. After a redirect, the browser would not send the `Strict` session cookie. Threat: an attacker crafts a
 * link that leads to a site of their choice after the sign-in (open redirect). No part of the address therefore
 * determines the destination, and other sites cannot set the cookie that does.
 */
async function finish(visit: Visit, identity: IdentityProvider) {
  const { vault, service, request, reply } = visit;
  const token = request.cookies[cookieNames.signIn];
  if (token !== undefined) reply.clearCookie(cookieNames.signIn, laxCookieOptions);
  const begun = token === undefined ? null : await takeSignIn(vault, token);
  // This counts as a failed sign-in from this address. If an address has too many failures, `authFailure` throws 429.
  if (begun === null) {
    await service.limits.authFailure(request.ip);
    throw new ConsoleProblem('sign_in_expired');
  }
  const [, query = ''] = (request.raw.url ?? '').split(/\?(.*)/s);
  const found = await identity.personOf(query, begun);
  if (!found.ok) {
    if (found.fault !== 'unavailable') await service.limits.authFailure(request.ip);
    return fail(found);
  }
  const { name, membership } = found.value;
  const opened = await openedByMembership(service, identity, membership);
  if (opensNothing(opened)) {
    await service.limits.authFailure(request.ip);
    throw new ConsoleProblem('no_group');
  }
  await closeReplaced(vault, begun);
  const person = { name, issuer: identity.issuer };
  const credentials = { privateKeyHash: null, managementKeyHash: null, isOperator: false, membership };
  const session = await openSession(vault, credentials, person);
  await recordSignIn(visit, { ...opened, ...person });
  reply.setCookie(cookieNames.session, session, cookieOptions);
  return visit.page('onward', { address: takeReturn(request, reply) }, { title: 'You are signed in' });
}

const problems = {
  denied: 'sign_in_denied',
  rejected: 'sign_in_rejected',
  unavailable: 'provider_unavailable',
} as const satisfies Record<ProviderFault, string>;

/** The reason why a sign-in failed. It is written to the log and contains only a code. */
class IdentityProviderError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.name = 'IdentityProviderError';
    this.code = code;
  }
}

function fail({ fault, reason }: { readonly fault: ProviderFault; readonly reason: string }): never {
  throw new ConsoleProblem(problems[fault], { cause: new IdentityProviderError(reason) });
}
