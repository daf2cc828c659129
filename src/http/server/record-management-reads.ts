import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { type ManagementEntity, recordManagementRead } from '../../audit/access-log/record-management-read.js';
import type { Permission } from '../../domain/access/permission.js';
import type { Vault } from '../../vault/vault.js';
import '../request-state.js';

/**
 * The kind of management data that a route with this permission shows. Null if the route changes something, shows tokens
 * (`release` records these), or records its reads itself (`log:read`).
 */
const shownWith: Readonly<Record<Permission | 'any_key', ManagementEntity | null>> = {
  any_key: null,
  'token:create': null,
  'token:read': null,
  'token:update': null,
  'token:delete': null,
  'token:search': null,
  'token:use': null,
  'application:create': null,
  'application:read': 'application',
  'application:update': null,
  'application:delete': null,
  'tenant:read': 'tenant',
  'tenant:update': null,
  'tenant:delete': null,
  'log:read': null,
  'report:read': 'report',
  'webhook:create': null,
  'webhook:read': 'webhook',
  'webhook:update': null,
  'webhook:delete': null,
};

/**
 * Adds a hook to every route that shows applications, keys, webhooks, the tenant, a report or the history of a token.
 * The hook records each read in the access log. Throws if a route has a list of permissions and does not set `shows`.
 */
export function recordManagementReads(
  app: FastifyInstance,
  vault: Pick<Vault, 'clock' | 'confirmReads' | 'keys' | 'recorder'>,
): void {
  app.addHook('onRoute', (route) => {
    const { permission, shows } = route.config ?? {};
    const entity = shows === undefined ? shownBy(route.url, permission) : shows;
    if (entity === null) return;
    route.onSend = async (request, reply) => {
      const { caller, traceId, params, beganAt } = request;
      const { id = null } = params as { readonly id?: string | null };
      if (caller !== null && reply.statusCode === 200) {
        await vault.confirmReads(beganAt);
        await recordManagementRead(vault, { caller, traceId }, entity, id);
      }
    };
  });
}

function shownBy(url: string, permission: FastifyContextConfig['permission']): ManagementEntity | null {
  if (permission === undefined) return null;
  if (typeof permission === 'string') return shownWith[permission];
  throw new Error(`${url} has several permissions, so its route must set \`shows\``);
}
