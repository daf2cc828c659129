import { entityRef } from '../../events/access-log/entity-ref.js';
import type { RequestContext } from '../../vault/request-context.js';
import type { Vault } from '../../vault/vault.js';
import { type AccessFact, entriesOfRequest } from './new-entry.js';

const messages = {
  application: 'application or its keys read',
  tenant: 'tenant read',
  report: 'usage report read',
  token: 'history of a token read',
  log: 'checkpoints of the event log read',
  webhook: 'webhook or its deliveries read',
} as const;

/** The kinds of management data whose reads the access log records. */
export type ManagementEntity = keyof typeof messages;

/**
 * Records that a request read management data such as an application, the tenant, a report or a token's history.
 * `message` distinguishes a copy that leaves the vault, such as an evidence bundle, from a page that a person looked at.
 */
export async function recordManagementRead(
  vault: Pick<Vault, 'clock' | 'keys' | 'recorder'>,
  context: Pick<RequestContext, 'caller' | 'traceId'>,
  entity: ManagementEntity,
  pathId: string | null,
  message: string = messages[entity],
): Promise<void> {
  const { tenantId } = context.caller;
  const tenantKeys = await vault.keys.tenantKeys(tenantId);
  if (tenantKeys === null) return;
  const id = entity === 'tenant' ? tenantId : pathId;
  const fact: AccessFact = {
    entity,
    ref: id === null ? null : entityRef(tenantKeys.names, id),
    entityId: entity === 'token' ? null : id,
    operation: 'read',
    message,
  };
  vault.recorder.soon(entriesOfRequest(context, tenantKeys, vault.clock.now(), [fact]));
}
