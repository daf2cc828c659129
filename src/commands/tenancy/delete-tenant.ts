import { setImmediate as nextTurn } from 'node:timers/promises';
import { apiKeyHash, isWellFormedApiKey } from '../../domain/tenancy/api-key.js';
import { systemEvent } from '../../events/event.js';
import { directoryEventVersion } from '../../events/tenancy/catalogue.js';
import { tenantStream } from '../../events/tenancy/streams.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { clearEvents } from '../../vault/load-token.js';
import { type CommandResult, done } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';
import { foldDirectoryRows } from '../../views/directory-view.js';
import { conflict, retryOnConflict } from '../retry-on-conflict.js';
import {
  type ChangeDirectoryDeps,
  changeDirectory,
  type DirectoryContext,
  storeInDirectory,
} from './change-directory.js';

type RecordDeletionDeps = Pick<
  Vault,
  'clock' | 'integrity' | 'keys' | 'log' | 'random' | 'streams' | 'webhookStore' | 'work'
>;

type DeleteTenantDeps = ChangeDirectoryDeps &
  Pick<Vault, 'log' | 'unfinishedErasures' | 'vocabularies' | 'webhookStore'>;

/**
 * Deletes a tenant, destroys its tenant keys, and removes what is stored for its webhooks. `name` must equal the
 * tenant's name. Once the promise resolves, the vault rejects the tenant's API keys, and none of the tenant's data can
 * be decrypted (docs/contract.md, "Tenants"). Throws StoreUnavailable if the tenant keys could not be destroyed in time.
 */
export async function deleteTenant(
  vault: DeleteTenantDeps,
  context: DirectoryContext,
  name: string,
): Promise<CommandResult<null>> {
  const deleted = await changeDirectory(vault, context, {
    commands: [{ kind: 'delete_tenant', name }],
    answer: (_after, events) => events.map(({ id }) => id),
  });
  if (!deleted.ok) return deleted;
  vault.vocabularies.drop(context.tenantId);
  vault.unfinishedErasures.forgetTenant(context.tenantId);
  for (const eventId of deleted.value) await vault.keys.destroyTenant(context.tenantId, eventId);
  await removeWebhookStates(vault, context.tenantId);
  return done(null);
}

/**
 * Records the deletion of a tenant whose keys were already destroyed, because the log is older than the deletion. Then
 * runs the remaining steps of a deletion. Needs no key of the tenant. Reads the log, because the rows of an older log
 * can be older than the revisions in the key store.
 */
export async function recordTenantDeletion(vault: RecordDeletionDeps, tenantId: string): Promise<void> {
  const stream = tenantStream(tenantId);
  const eventId = await retryOnConflict<string>(vault, [stream], async () => {
    const view = foldDirectoryRows(await vault.log.readStream(stream));
    if (view.tenant === null) throw new Error('a tenant with a stream must exist');
    const event = {
      ...systemEvent({
        id: vault.random.uuid(),
        type: 'tenant.deleted',
        version: directoryEventVersion,
        tenantId,
        time: vault.clock.now(),
        clear: {},
      }),
      actorId: 'operator',
    };
    const { revision } = view.tenant;
    const isStored = await storeInDirectory(vault, { tenantId, revision, view, events: [event] }, null);
    return isStored ? event.id : conflict;
  });
  await vault.keys.destroyTenant(tenantId, eventId);
  await removeWebhookStates(vault, tenantId);
}

/**
 * Finishes a tenant deletion that returned 503: destroys the tenant keys that still exist, and removes what is stored
 * for the tenant's webhooks. The API key must belong to the application that requested the deletion. Returns false
 * unless that application deleted the tenant and at least one tenant key still existed.
 */
export async function finishTenantDeletion(
  vault: Pick<Vault, 'directory' | 'keys' | 'log' | 'webhookStore'>,
  key: string,
): Promise<boolean> {
  if (!isWellFormedApiKey(key)) return false;
  const application = await vault.directory.byKeyHash(apiKeyHash(key));
  if (application === null) return false;
  const { id, tenantId } = application;
  const [last] = await vault.log.readNewest(tenantStream(tenantId), null, 1);
  if (last?.type !== 'tenant.deleted' || last.actorId !== id) return false;
  // If nothing was left to destroy, nothing else is done. Threat: the holder of the key repeats the request to make the
  // vault read a long stream each time.
  if ((await vault.keys.destroyTenant(tenantId, last.id)) === 0) return false;
  await removeWebhookStates(vault, tenantId);
  return true;
}

/**
 * Removes the states and sealed ids of all webhooks that a deleted tenant ever had. The tenant's document is already
 * gone, so this function finds the webhooks in the log. If a store is unavailable, the rest stays. This does not make
 * the deletion fail, because without the tenant's keys, none of it can be decrypted.
 */
async function removeWebhookStates(
  { log, webhookStore }: Pick<Vault, 'log' | 'webhookStore'>,
  tenantId: string,
): Promise<void> {
  try {
    for await (const page of clearEvents(log, tenantStream(tenantId), 1)) {
      for (const { type, clear } of page) {
        if (type === 'webhook.created') await webhookStore.remove(String(clear['webhook_id']));
      }
      await nextTurn();
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}
