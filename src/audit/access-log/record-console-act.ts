import { entityRef } from '../../events/access-log/entity-ref.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type TenantKeysDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { type AccessFact, entriesOfRequest } from './new-entry.js';

/** A person's action in the console. `message` is a fixed text that contains no token data. */
export type ConsoleAct = Pick<AccessFact, 'operation' | 'message'>;

/**
 * Records a person's action on an application or webhook in the console. `context.caller` is the application that gives
 * the person access.
 */
export async function recordConsoleAct(
  vault: TenantKeysDeps & Pick<Vault, 'clock' | 'recorder'>,
  context: Pick<RequestContext, 'caller' | 'traceId'>,
  entity: 'application' | 'webhook',
  entityId: string,
  { operation, message }: ConsoleAct,
): Promise<void> {
  const tenantKeys = await tenantKeysOf(vault, context.caller.tenantId);
  const ref = entityRef(tenantKeys.names, entityId);
  const fact = { entity, ref, entityId, operation, message };
  vault.recorder.soon(entriesOfRequest(context, tenantKeys, vault.clock.now(), [fact]));
}
