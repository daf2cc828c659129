import fastifyCors from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyServerOptions } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { readJsonBodies } from '../body/json-body.js';
import { createErrorHandler, sendProblem } from '../error-handler.js';
import { createAdmission } from '../load/admission.js';
import { requireTlsProxy } from '../load/require-tls-proxy.js';
import type { RequestLog } from '../logging/request-log.js';
import { collectOperations } from '../openapi/openapi.js';
import { Problem, problemBody } from '../problem/problem.js';
import { applicationRoutes } from '../routes/applications.js';
import { createTokenRoute } from '../routes/create-token.js';
import { deleteTokenRoute } from '../routes/delete-token.js';
import { deleteTokensRoute } from '../routes/delete-tokens.js';
import { detokenizeRoute } from '../routes/detokenize.js';
import { docsRoute, errorPageRoute, openApiRoute } from '../routes/docs.js';
import { getTokenRoute } from '../routes/get-token.js';
import { healthRoute } from '../routes/health.js';
import { keyRoutes } from '../routes/keys.js';
import { listCheckpointsRoute } from '../routes/list-checkpoints.js';
import { listLogsRoute } from '../routes/list-logs.js';
import { listPermissionsRoute } from '../routes/list-permissions.js';
import { listTokensRoute } from '../routes/list-tokens.js';
import { purgeCvcRoute } from '../routes/purge-cvc.js';
import { searchSuggestionsRoute } from '../routes/search-suggestions.js';
import { searchTokensRoute } from '../routes/search-tokens.js';
import { tenantRoutes } from '../routes/tenant.js';
import { tokenHistoryRoute } from '../routes/token-history.js';
import { tokenizeRoute } from '../routes/tokenize.js';
import { updateTokenRoute } from '../routes/update-token.js';
import { tokensV2Routes } from '../routes/v2-tokens.js';
import { webhookRoutes } from '../routes/webhooks.js';
import { type Routes, typed } from '../routes.js';
import type { HeaderNames, Service } from '../service.js';
import { createAuthentication, renewCaller } from './authentication.js';
import { createBaseApp, traceHeader } from './base-app.js';
import { recordManagementReads } from './record-management-reads.js';
import { refuseUnserved } from './refuse-unserved.js';
import { refuseWhatNodeRefuses } from './refuse-what-node-refuses.js';
import { traceIdOf } from './trace-id.js';

const routes: readonly Routes[] = [
  createTokenRoute,
  listTokensRoute,
  searchTokensRoute,
  tokensV2Routes,
  searchSuggestionsRoute,
  getTokenRoute,
  updateTokenRoute,
  deleteTokenRoute,
  purgeCvcRoute,
  tokenizeRoute,
  detokenizeRoute,
  deleteTokensRoute,
  listLogsRoute,
  listCheckpointsRoute,
  tokenHistoryRoute,
  applicationRoutes,
  keyRoutes,
  listPermissionsRoute,
  tenantRoutes,
  webhookRoutes,
  healthRoute,
  errorPageRoute,
  openApiRoute,
  docsRoute,
];

const bodyBytesMax = 4 * 1024 * 1024;
/** How long (in ms) a connection stays open after the response to bytes that are not a valid request. */
const lingerMs = 1_000;

export type AppOptions = {
  readonly headerNames: HeaderNames;
  /** True if the service also accepts an API key as `Authorization: Bearer`. */
  readonly acceptsBearer: boolean;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  /** True if the service accepts only requests that one of `trustedProxies` received over TLS. */
  readonly behindTlsProxy: boolean;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  readonly log: RequestLog;
};

/** Creates the HTTP interface of a service. The caller must start the listener. */
export function createApp(service: Service, options: AppOptions): FastifyInstance {
  const { acceptsBearer, headerNames, log } = options;
  const { uuid } = service.vault.random;
  const app = createBaseApp(service, options, {
    listener: 'api',
    traceIdOf: (request) => traceIdOf(request, headerNames.traceId, uuid),
    bodyLimit: bodyBytesMax,
    ...errorOptions(headerNames.traceId, uuid),
  });
  app.setValidatorCompiler(validatorCompiler);
  readJsonBodies(app, service.vault.turns);
  if (options.behindTlsProxy) requireTlsProxy(app, options.trustedProxies);
  refuseWhatNodeRefuses(app);
  app.setErrorHandler(createErrorHandler(service, log, acceptsBearer));
  refuseUnserved(app, service.limits);
  if (options.corsOrigins.length > 0) {
    const exposedHeaders = ['allow', 'etag', 'location', 'retry-after', 'www-authenticate', traceHeader];
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
    // `refuseUnserved` decides which requests are preflights.
    const strictPreflight = false;
    app.register(fastifyCors, { origin: [...options.corsOrigins], methods, exposedHeaders, strictPreflight });
  }
  const admission = createAdmission(app, service.vault.turns, bodyBytesMax);
  app.decorate('admission', admission);
  recordManagementReads(app, service.vault);
  collectOperations(app, acceptsBearer);
  // Authentication and the routes are in a plugin, so that they run after the hooks of other plugins, such as CORS.
  // This lets a web page read even a 401 response.
  app.register(async (scope) => {
    scope.addHook(
      'onRequest',
      createAuthentication(service, { headerNames: headerNames.apiKey, acceptsBearer }, admission),
    );
    refuseMalformedQuery(scope);
    scope.addHook('preHandler', renewCaller);
    for (const route of routes) route(typed(scope), service, headerNames);
  });
  return app;
}

function errorOptions(
  traceIdHeader: HeaderNames['traceId'],
  uuid: () => string,
): Pick<FastifyServerOptions, 'frameworkErrors' | 'clientErrorHandler'> {
  return {
    // Fastify reports these errors before it runs any hook, so no hook has set the trace id.
    frameworkErrors: (_error, request, reply) => {
      const traceId = traceIdOf(request, traceIdHeader, uuid);
      reply.header(traceHeader, traceId).header('connection', 'close');
      sendProblem(reply as FastifyReply, { code: 'malformed_request' }, traceId);
    },
    clientErrorHandler: (error, socket) => {
      // A connection that has sent nothing, such as one that a client opened in advance, gets no response.
      if (!socket.writable || socket.bytesRead === 0) {
        socket.destroy();
        return;
      }
      const traceId = uuid();
      const body = problemBody({ code: 'malformed_request' }, traceId);
      const head = [
        'HTTP/1.1 400 Bad Request',
        'Content-Type: application/problem+json; charset=utf-8',
        'Cache-Control: no-store',
        `${traceHeader}: ${traceId}`,
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Connection: close',
      ];
      // Threat: a client that took too long could otherwise complete its request after this response.
      const isLate = (error as NodeJS.ErrnoException).code === 'ERR_HTTP_REQUEST_TIMEOUT';
      socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => isLate && socket.destroy());
      // A client that does not close its side keeps the connection open. Threat: such clients hold connections, and a
      // request whose body is malformed counts against its tenant's share.
      setTimeout(() => socket.destroy(), lingerMs).unref();
    },
  };
}

/**
 * Rejects each request whose query string is not percent-encoded UTF-8. The query parser would accept malformed text as
 * a value, so a list would be empty, and its caller would conclude that nothing exists.
 */
function refuseMalformedQuery(app: FastifyInstance): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const at = request.url.indexOf('?');
    done(at < 0 || isDecodable(request.url.slice(at + 1)) ? undefined : new Problem('malformed_request'));
  });
}

function isDecodable(text: string): boolean {
  try {
    // Uses the result, because the bundler removes a call of `decodeURIComponent` whose result is not used.
    return decodeURIComponent(text).length <= text.length;
  } catch {
    return false;
  }
}
