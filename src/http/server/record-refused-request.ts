import type { FastifyRequest } from 'fastify';
import { recordRefusal } from '../../audit/access-log/record-refusal.js';
import type { Vault } from '../../vault/vault.js';
import { permissionsOf } from '../request-state.js';

/**
 * Records in the access log that a known caller's request failed with 403, 500 or 503. The response does not wait for
 * this record.
 */
export function recordRefusedRequest(
  vault: Pick<Vault, 'clock' | 'keys' | 'recorder'>,
  request: FastifyRequest,
  status: number,
): void {
  const { caller, traceId, routeOptions, params } = request;
  if (caller === null || (status !== 403 && status < 500)) return;
  // If one of several permissions is enough for the route, the record contains the last of them.
  const asked = permissionsOf(routeOptions.config.permission).at(-1);
  if (asked === undefined) return;
  const { id = null } = params as { readonly id?: string | null };
  void recordRefusal(vault, { caller, traceId }, asked, id, status === 403 ? 'denied' : 'failed');
}
