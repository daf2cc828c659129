import type { Permission } from '../../domain/access/permission.js';
import type { AccessOutcome } from '../../events/access-log/access-entry.js';
import { entityRef } from '../../events/access-log/entity-ref.js';
import type { RequestContext } from '../../vault/request-context.js';
import type { Vault } from '../../vault/vault.js';
import { entriesOfRequest } from './new-entry.js';
import type { AccessEntity, AccessOperation } from './operation.js';

const operations: Readonly<Record<string, AccessOperation>> = {
  create: 'create',
  read: 'read',
  search: 'read',
  update: 'update',
  delete: 'delete',
  use: 'reveal',
};

const messages = {
  denied: 'rejected: no permission or rule of the application allows it',
  failed: 'failed: the service could not complete the request',
} as const;

/**
 * Records a request or a CLI command that was rejected (status 403), or a request that failed with 500 or 503. Never
 * throws, and does not change the response. Operator pages have no permission, so their entries use `service:read` or
 * `service:update`.
 */
export async function recordRefusal(
  vault: Pick<Vault, 'clock' | 'keys' | 'recorder'>,
  context: Pick<RequestContext, 'caller' | 'traceId'>,
  permission: Permission | 'service:read' | 'service:update',
  id: string | null,
  outcome: Exclude<AccessOutcome, 'success'>,
): Promise<void> {
  try {
    const tenantKeys = await vault.keys.tenantKeys(context.caller.tenantId);
    if (tenantKeys === null) return;
    const [entity, action = ''] = permission.split(':') as [AccessEntity, string?];
    const ref = id === null ? null : entityRef(tenantKeys.names, id);
    const fact = { entity, ref, operation: operations[action] ?? 'read', outcome, message: messages[outcome] };
    vault.recorder.soon(entriesOfRequest(context, tenantKeys, vault.clock.now(), [fact]));
  } catch {
    // The key store is unavailable, so the refusal cannot be recorded. The response already reports that the key store
    // is unavailable.
  }
}
