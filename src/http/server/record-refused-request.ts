import type { FastifyRequest } from 'fastify';
import { recordRefusal } from '../../audit/access-log/record-refusal.js';
import type { Vault } from '../../vault/vault.js';

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
  const { permission } = routeOptions.config;
  if (caller === null || permission === undefined || permission === 'any_key') return;
  if (status !== 403 && status < 500) return;
  // If one of several permissions is enough for the route, the record contains the last of them.
  const asked = typeof permission === 'string' ? permission : permission.at(-1);
  const { id = null } = params as { readonly id?: string | null };
  if (asked !== undefined)
    void recordRefusal(vault, { caller, traceId }, asked, id, status === 403 ? 'denied' : 'failed');
}
