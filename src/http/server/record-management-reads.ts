import type { FastifyInstance } from 'fastify';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import type { Vault } from '../../vault/vault.js';
import '../request-state.js';

const entities = {
  'application:read': 'application',
  'tenant:read': 'tenant',
  'report:read': 'report',
  'webhook:read': 'webhook',
} as const;

/**
 * Adds a hook to every route that shows applications, keys, webhooks, the tenant, a report or the history of a token.
 * The hook records each read in the access log, unless the route's handler does (`recordsRead`).
 */
export function recordManagementReads(
  app: FastifyInstance,
  vault: Pick<Vault, 'clock' | 'confirmReads' | 'keys' | 'recorder'>,
): void {
  app.addHook('onRoute', (route) => {
    const { permission, recordsRead = false } = route.config ?? {};
    const entity =
      typeof permission === 'string' && Object.hasOwn(entities, permission)
        ? entities[permission as keyof typeof entities]
        : Array.isArray(permission)
          ? 'token'
          : null;
    if (entity === null || recordsRead) return;
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
