import { createHash, createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'node:querystring';
import { fileURLToPath } from 'node:url';
import fastifyCookie from '@fastify/cookie';
import fastifyCsrf from '@fastify/csrf-protection';
import fastifyForm from '@fastify/formbody';
import fastifyHelmet from '@fastify/helmet';
import fastifyStatic from '@fastify/static';
import fastifyView from '@fastify/view';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { createAdmission } from '../http/load/admission.js';
import { requireTlsProxy } from '../http/load/require-tls-proxy.js';
import { Problem } from '../http/problem/problem.js';
import type { AppOptions } from '../http/server/app.js';
import { createBaseApp } from '../http/server/base-app.js';
import { recordManagementReads } from '../http/server/record-management-reads.js';
import { recordRefusedRequest } from '../http/server/record-refused-request.js';
import { isUndecodable, refuseWhatNodeRefuses } from '../http/server/refuse-what-node-refuses.js';
import type { Service } from '../http/service.js';
import { allowOnlyHosts, refuseCrossSite } from './allowed-hosts.js';
import { createConsoleAuthentication } from './authentication.js';
import { createBundles } from './bundles.js';
import { cookieNames, cookieOptions, sessionOf } from './cookies.js';
import type { IdentityProvider } from './identity-provider.js';
import { createLayout } from './layout.js';
import type { Operations } from './operations.js';
import type { ConsoleRoute } from './page.js';
import { providerSignInPage } from './pages/provider-sign-in.js';
import { pages } from './pages.js';
import { ConsoleProblem, shownProblem } from './problem.js';
import { sendProblemPage } from './problem-page.js';
import { findSession } from './sessions.js';
import { createTasks } from './tasks.js';
import { createTemplates, templatesFolder } from './templates.js';
import { createVisit } from './visit.js';

/**
 * The maximum body size. A token can be 512 KiB in size, and URL encoding in a form makes it up to three times as long.
 */
const bodyBytesMax = 2 * 1024 * 1024;
/**
 * The maximum body size for pages that need no session. Threat: an attacker without a session posts large bodies to
 * fill the memory. Such bodies do not count against any tenant's share.
 */
const openBodyBytesMax = 16 * 1024;
/**
 * The maximum number of fields in a form. The longest form has about a thousand fields. Fields beyond the maximum are
 * ignored.
 */
const formFieldsMax = 10_000;

const assetsFolder = fileURLToPath(new URL('../console/assets/', import.meta.url));

export type ConsoleOptions = Pick<AppOptions, 'trustedProxies' | 'behindTlsProxy' | 'tls' | 'log'> & {
  /** The console's host names, without ports. Loopback names are always allowed. */
  readonly allowedHosts: readonly string[];
  readonly operations: Operations;
  /** The identity provider for sign-ins. If null, people can sign in only with API keys and operator codes. */
  readonly identity: IdentityProvider | null;
};

/** Creates the console for a service. The caller must start the listener (docs/adr/0060-the-console.md). */
export async function createConsole(service: Service, options: ConsoleOptions): Promise<FastifyInstance> {
  const { trustedProxies, behindTlsProxy, tls, log, allowedHosts, operations, identity } = options;
  const { vault } = service;
  const tasks = createTasks(vault.clock.now, service.reportError);
  const bundles = createBundles(tasks, service.reportError);
  const app = createBaseApp(service, options, {
    listener: 'console',
    traceIdOf: vault.random.uuid,
    bodyLimit: bodyBytesMax,
    // Fastify raises these errors before it runs any hook, so the console's error page is not available.
    frameworkErrors: (_error, _request, reply: FastifyReply) => {
      reply.code(400).header('connection', 'close').type('text/plain; charset=utf-8').send('Malformed request.');
    },
  });
  app.decorateRequest('signedIn', null);
  app.addHook('onClose', bundles.close);
  await protect(app, tls !== null || behindTlsProxy, vault.integrity.console);
  if (behindTlsProxy) requireTlsProxy(app, trustedProxies);
  refuseWhatNodeRefuses(app);
  allowOnlyHosts(app, allowedHosts);
  refuseCrossSite(app);

  const assets = assetsPath();
  await app.register(fastifyView, { engine: { liquid: createTemplates() }, root: templatesFolder, viewExt: 'liquid' });
  const layout = createLayout(pages, assets);
  app.setErrorHandler(async (error, request, reply) => {
    const problem = shownProblem(error);
    // If a sign-in with the identity provider failed, the error's cause contains a code that explains why.
    if (error instanceof ConsoleProblem && error.cause !== undefined) log.error(error.cause, request.traceId);
    else if (problem.status >= 500) {
      service.reportError(error);
      log.error(error, request.traceId);
    }
    recordRefusedRequest(vault, request, problem.status);
    return sendProblemPage(request, reply, layout, problem);
  });
  // Rejects requests for unknown paths before their bodies are read. Threat: a client sends large bodies to unknown
  // paths. Without this hook, Fastify would parse the body before it runs the handler for unknown paths.
  app.addHook('preParsing', async (request) => {
    if (!request.is404) return;
    await service.limits.keyless(request);
    // With the session, the page has the menu.
    const session = await findSession(service, identity, request.cookies[cookieNames.session]);
    if (session !== 'no_access') request.signedIn = session;
    throw new Problem(isUndecodable(request) ? 'malformed_request' : 'not_found');
  });
  const admission = createAdmission(app, vault.turns, bodyBytesMax);
  app.decorate('admission', admission);
  recordManagementReads(app, vault);
  await app.register(async (scope) => {
    const authentication = createConsoleAuthentication(service, admission, identity);
    scope.addHook('onRequest', authentication.check);
    scope.addHook('preHandler', authentication.renew);
    await scope.register(fastifyStatic, {
      root: assetsFolder,
      prefix: assets,
      index: false,
      immutable: true,
      maxAge: '365d',
    });
    const served = identity === null ? pages : [...pages, providerSignInPage(identity)];
    for (const route of served.flatMap(({ routes }) => routes)) addRoute(scope, route);
  });
  return app;

  function addRoute(scope: FastifyInstance, route: ConsoleRoute): void {
    const { method, path, permission, shows } = route;
    scope.route({
      method,
      url: path,
      exposeHeadRoute: false,
      bodyLimit: route.session === 'none' ? openBodyBytesMax : bodyBytesMax,
      config: {
        consoleRoute: route,
        ...(permission === undefined ? {} : { permission }),
        ...(shows === undefined ? {} : { shows }),
      },
      ...(method === 'POST' ? { preHandler: app.csrfProtection } : {}),
      handler: (request, reply) =>
        route.handle(createVisit(request, reply, service, { operations, tasks, bundles, identity }, layout)),
    });
  }
}

/**
 * Returns the path under which the console serves its style sheet, scripts and icon. The path contains a hash of these
 * files, so browsers can cache them until they change.
 */
function assetsPath(): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(assetsFolder).sort()) hash.update(name).update(readFileSync(join(assetsFolder, name)));
  return `/assets/${hash.digest('hex').slice(0, 16)}`;
}

/**
 * Replaces each `+` in an encoded form with the space that it means. Works on bytes, because replacing a million of
 * them in a string, or leaving them to `parse`, blocks the process for a tenth of a second.
 */
function withSpaces(text: string): string {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === 0x2b) bytes[at] = 0x20;
  return bytes.toString();
}

/** Adds the headers, cookies and form tokens that protect all pages. */
async function protect(app: FastifyInstance, isTls: boolean, key: Uint8Array): Promise<void> {
  const none = ["'none'"];
  const own = ["'self'"];
  await app.register(fastifyHelmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: none,
        scriptSrc: own,
        styleSrc: own,
        imgSrc: own,
        connectSrc: own,
        formAction: own,
        frameAncestors: none,
        baseUri: none,
        requireTrustedTypesFor: ["'script'"],
      },
    },
    frameguard: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: isTls ? { maxAge: 31_536_000, includeSubDomains: false } : false,
  });
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('permissions-policy', 'camera=(), microphone=(), geolocation=(), payment=(), usb=()');
  });
  // The console accepts only forms as request bodies.
  app.removeAllContentTypeParsers();
  await app.register(fastifyForm, {
    bodyLimit: bodyBytesMax,
    // Threat: a client sends a form with hundreds of thousands of fields to block the process for a second.
    parser: (text) => parse(withSpaces(text), '&', '=', { maxKeys: formFieldsMax }),
  });
  await app.register(fastifyCookie);
  await app.register(fastifyCsrf, {
    cookieKey: cookieNames.csrf,
    cookieOpts: cookieOptions,
    csrfOpts: { hmacKey: createHmac('sha256', key).update('strongroom.console.csrf.1').digest('base64') },
    // Each CSRF token belongs to one session. A CSRF token from before a sign-in is therefore not valid after it.
    getUserInfo: (request) => sessionOf(request.cookies),
    getToken: (request) => {
      const { _csrf: token } = (request.body ?? {}) as { readonly _csrf?: unknown };
      return typeof token === 'string' ? token : '';
    },
  });
}
