import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordRefusal } from '../audit/access-log/record-refusal.js';
import type { Admission } from '../http/load/admission.js';
import { permissionMissing } from '../http/problem/problem.js';
import { permissionsOf } from '../http/request-state.js';
import { renewAfterMs } from '../http/server/authentication.js';
import type { Service } from '../http/service.js';
import { cookieNames } from './cookies.js';
import type { IdentityProvider } from './identity-provider.js';
import type { ConsoleRoute } from './page.js';
import { ConsoleProblem } from './problem.js';
import { callerFor, lacksKind, opens, requirementOf } from './route-access.js';
import { callerOfPerson, findSession, type SignedIn } from './sessions.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The signed-in person, or null on a page that does not need a session. */
    signedIn: SignedIn | null;
  }
  interface FastifyContextConfig {
    /** The console route that serves the request. It is absent for assets. */
    consoleRoute?: ConsoleRoute;
  }
}

/**
 * Requests that count against no application are counted under this tenant name, because the service shares its
 * capacity fairly between tenants.
 */
const operators = 'operator';

/**
 * Creates the hooks that check each request. `check` runs before the body is read. The order of its checks is the same as
 * in the API: the session, the application's limit, the tenant's share of the service, and finally the requirements of
 * the page.
 *
 * `renew` runs after the body has been read, and looks the session up again if the request has waited. Threat: a person
 * sends the end of a form long after the session was closed, or after its key or application lost rights.
 */
export function createConsoleAuthentication(service: Service, admission: Admission, identity: IdentityProvider | null) {
  /** Sets the person and the caller of the request. Throws ConsoleProblem if there is no session. */
  async function identify(request: FastifyRequest, route: ConsoleRoute): Promise<SignedIn> {
    const session = await findSession(service, identity, request.cookies[cookieNames.session]);
    if (session === null || session === 'no_access') {
      await service.limits.keyless(request);
      throw new ConsoleProblem(session === null ? 'session_ended' : 'no_group');
    }
    // Threat: a person acts with a session or a key that has ended. A store server that has lost its leadership may still
    // return it. A page confirms its reads when it is complete, but an action must not begin before they are confirmed.
    if (request.method !== 'GET') await service.vault.confirmReads(request.beganAt);
    const found = callerFor(session, route);
    request.signedIn = session;
    request.caller = found.kind === 'missing_key' ? null : callerOfPerson(request, found.caller, session);
    return session;
  }

  /** Throws ConsoleProblem or Problem if the session does not open the page. */
  function expectOpen(request: FastifyRequest, session: SignedIn, route: ConsoleRoute): void {
    if (opens(session, route)) return;
    const found = callerFor(session, route);
    // The error handler records a refusal only if the request has a caller.
    if (found.kind === 'missing_key') recordNotOpened(request, session, route);
    if (route.session === 'operator') throw new ConsoleProblem('not_opened');
    if (found.kind === 'missing_key' || lacksKind(session, route))
      throw new ConsoleProblem('not_opened', { detail: requirementOf(route) });
    throw permissionMissing(permissionsOf(route.permission));
  }

  /** Records that a person without the right kind of key asked for a page. An operator without keys has no tenant. */
  function recordNotOpened(request: FastifyRequest, session: SignedIn, { method, permission }: ConsoleRoute): void {
    const application = session.private ?? session.management;
    if (application === null) return;
    const { id = null } = request.params as { readonly id?: string | null };
    const asked = permissionsOf(permission).at(-1) ?? (method === 'GET' ? 'service:read' : 'service:update');
    const caller = callerOfPerson(request, application, session);
    void recordRefusal(service.vault, { caller, traceId: request.traceId }, asked, id, 'denied');
  }

  return {
    async check(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { consoleRoute: route } = request.routeOptions.config;
      if (route === undefined || route.session === 'none') return service.limits.keyless(request);
      const session = await identify(request, route);
      // An operator page uses no application, so it opens even if all of the session's applications are over their
      // limits. Every other request counts against the limit of one of those applications, even if its page uses none
      // of them.
      const isOperators = route.session === 'operator' && session.isOperator;
      const payer = isOperators ? null : (request.caller ?? session.private ?? session.management);
      if (payer !== null) await service.limits.request(payer);
      const admitted = admission.admit(request, reply, payer?.tenantId ?? operators);
      if (admitted !== undefined) await admitted;
      expectOpen(request, session, route);
    },
    async renew(request: FastifyRequest): Promise<void> {
      const { consoleRoute: route } = request.routeOptions.config;
      if (route === undefined || route.session === 'none') return;
      if (performance.now() - request.beganAt >= renewAfterMs)
        expectOpen(request, await identify(request, route), route);
    },
  };
}
