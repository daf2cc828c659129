import { type Actor, actorId } from '../../domain/tenancy/actor.js';
import { decideDirectory } from '../../domain/tenancy/decide-directory.js';
import type { DirectoryCommand } from '../../domain/tenancy/directory-command.js';
import type { DirectoryDecided, DirectoryRejection } from '../../domain/tenancy/directory-decision.js';
import type { DirectoryFact, DirectoryFactType } from '../../domain/tenancy/directory-fact.js';
import { evolveDirectory, type TenantDirectory } from '../../domain/tenancy/tenant-directory.js';
import type { NewEvent } from '../../events/event.js';
import { tenantStream } from '../../events/tenancy/streams.js';
import { latestNow } from '../../ports/clock.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { noteLog } from '../../vault/log-behind.js';
import { type CommandResult, done } from '../../vault/result.js';
import { type TenantKeysDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { applyToDirectory, type DirectoryView } from '../../views/directory-view.js';
import type { ClaimResult } from '../../views/finished-claim.js';
import { withClaimMac, withDirectoryMac } from '../../views/row-mac.js';
import type { EventOrigin } from '../event-origin.js';
import { conflict, retryOnConflict } from '../retry-on-conflict.js';
import { type Concerned, loadDirectory } from './load-directory.js';
import { sealDirectoryEvents } from './seal-directory-events.js';

export type ChangeDirectoryDeps = TenantKeysDeps &
  Pick<Vault, 'chain' | 'clock' | 'integrity' | 'knownCallers' | 'random' | 'streams' | 'turns' | 'work'>;

/**
 * The event types after which the caches of callers are cleared. These events take rights away from a caller or change
 * its tenant's settings. The others either add callers, which no cache contains yet, or change webhooks.
 */
const changesCallers: Readonly<Record<DirectoryFactType, boolean>> = {
  'tenant.created': false,
  'tenant.updated': true,
  'tenant.deleted': true,
  'application.created': false,
  'application.updated': true,
  'application.deleted': true,
  'application.key.issued': false,
  'application.key.revoked': true,
  'webhook.created': false,
  'webhook.updated': false,
  'webhook.deleted': false,
};

/**
 * The rejections which say that the target no longer exists. Another process may have stored its deletion a moment ago
 * and still wait until the other caches have expired. A client that repeats the request here must not be told earlier.
 * The same applies to an update that changes nothing (`updatesCallers`).
 */
const isGone: Partial<Record<DirectoryRejection, true>> = {
  application_not_found: true,
  application_key_not_found: true,
  tenant_not_found: true,
};
const updatesCallers: ReadonlySet<DirectoryCommand['kind']> = new Set(['update_application', 'update_tenant']);

/**
 * The commands that can take management rights away from an application. Their decision needs another administrator,
 * because the last one must remain (docs/contract.md, "Management rights").
 */
const endsRights: Readonly<Record<DirectoryCommand['kind'], boolean>> = {
  create_tenant: false,
  update_tenant: false,
  delete_tenant: false,
  create_application: false,
  update_application: true,
  delete_application: true,
  issue_key: false,
  revoke_key: true,
  create_webhook: false,
  update_webhook: false,
  rotate_webhook_secret: false,
  delete_webhook: false,
};

/** The tenant to change, who changes it, and the trace id of the request. */
export type DirectoryContext = { readonly tenantId: string; readonly actor: Actor; readonly traceId: string | null };

/**
 * The commands of one change, in the order in which they are decided. Either all of their events are stored or none.
 */
export type DirectoryChange<T> = {
  readonly commands: readonly DirectoryCommand[];
  /**
   * `cmd` is the keyed hash that identifies the request by its idempotency key. `result` is the result that a retry
   * returns. `claim` is null if the request has no idempotency key.
   */
  readonly claim?: { readonly cmd: string; readonly result: Omit<ClaimResult, 'tokens'> } | null;
  answer(after: TenantDirectory, events: readonly NewEvent[]): T;
};

/**
 * The write path for a tenant and its applications. Loads the directory, decides the commands and seals their events.
 * Then appends the events with the rows, records the new revisions in the key store, and clears the caller caches in
 * every process. After a conflict, starts over. Throws StoreUnavailable if conflicts continue for 5 s.
 */
export function changeDirectory<T>(
  vault: ChangeDirectoryDeps,
  { tenantId, actor, traceId }: DirectoryContext,
  { commands, claim = null, answer }: DirectoryChange<T>,
): Promise<CommandResult<T>> {
  const at = vault.clock.now();
  const origin = { actorId: actorId(actor), at, traceId, cmd: claim?.cmd ?? null, ...sourceOf(actor) };
  return retryOnConflict<CommandResult<T>>(vault, [tenantStream(tenantId)], async () => {
    const { directory, view } = await loadDirectory(vault, tenantId, concernedBy(commands, actor));
    const decided = decideAll(commands, { actor, at }, directory);
    if (!decided.ok) {
      if (isGone[decided.code] === true) await vault.knownCallers.forget(tenantId);
      return decided;
    }
    const after = decided.facts.reduce(evolveDirectory, directory);
    const events = await sealed(vault, { tenantId, revision: directory.revision }, decided.facts, origin);
    if (!(await storeInDirectory(vault, { tenantId, revision: directory.revision, view, events }, claim)))
      return conflict;
    const mayRepeat = events.length === 0 && commands.some(({ kind: what }) => updatesCallers.has(what));
    if (mayRepeat || decided.facts.some(({ type }) => changesCallers[type])) await vault.knownCallers.forget(tenantId);
    // Threat: after a crash, an attacker replaces the log with an older copy and thereby restores the rights that this
    // change takes away. Once the key store has recorded the end of the log, the vault rejects an older copy.
    await noteLog(vault);
    return done(answer(after, events));
  });
}

function sourceOf(actor: Actor): Pick<EventOrigin, 'source' | 'visitor'> {
  if (actor.kind === 'operator') return { visitor: null };
  const { keyId, sourceAddress = null, visitor = null } = actor;
  return { source: { keyId, sourceAddress }, visitor };
}

function decideAll(
  commands: readonly DirectoryCommand[],
  by: Parameters<typeof decideDirectory>[1],
  directory: TenantDirectory,
): DirectoryDecided {
  const facts: DirectoryFact[] = [];
  for (const command of commands) {
    const decided = decideDirectory(command, by, facts.reduce(evolveDirectory, directory));
    if (!decided.ok) return decided;
    facts.push(...decided.facts);
  }
  return { ok: true, facts };
}

function concernedBy(commands: readonly DirectoryCommand[], actor: Actor): Concerned {
  const targets = commands.flatMap((command) => ('id' in command ? [command.id] : []));
  const mayEndRights = commands.some((command) => endsRights[command.kind]);
  return {
    applicationIds: actor.kind === 'operator' ? targets : [...targets, actor.applicationId],
    administratorBeside: mayEndRights ? (targets[0] ?? null) : null,
  };
}

async function sealed(
  vault: TenantKeysDeps & Pick<Vault, 'random'>,
  place: { readonly tenantId: string; readonly revision: number },
  facts: readonly DirectoryFact[],
  origin: EventOrigin,
): Promise<readonly NewEvent[]> {
  if (facts.length === 0) return [];
  return sealDirectoryEvents(vault, await tenantKeysOf(vault, place.tenantId), place, facts, origin);
}

type Written = {
  readonly tenantId: string;
  /** The revision of the tenant's stream before these events. */
  readonly revision: number;
  readonly view: DirectoryView;
  readonly events: readonly NewEvent[];
};

/**
 * Appends the events with the rows, and records the new revisions in the key store. Returns false if another writer
 * committed first. In that case, the calling function starts over.
 */
export async function storeInDirectory(
  vault: Pick<Vault, 'clock' | 'integrity' | 'keys' | 'work'>,
  { tenantId, revision: expectedRevision, view, events }: Written,
  claim: DirectoryChange<unknown>['claim'],
): Promise<boolean> {
  const stream = tenantStream(tenantId);
  const next = events.reduce(
    (folded, event, index) =>
      applyToDirectory(folded, { ...event, stream, revision: expectedRevision + 1 + index, position: 0 }),
    view,
  );
  const changed = [...next.applications.values()].filter((record) => record !== view.applications.get(record.id));
  // The tenant's row is written last. A process that reads the new row of the tenant therefore also finds the new rows
  // of the changed applications.
  const records = (next.tenant === null ? changed : [...changed, next.tenant]).map((record) =>
    withDirectoryMac(vault.integrity.rows, record),
  );
  const write = { stream, expectedRevision, events, row: { of: 'directory', records } as const, distinct: null };
  const { outcome } = await vault.work.commit({
    writes: events.length === 0 ? [] : [write],
    claim:
      claim == null
        ? null
        : withClaimMac(vault.integrity.rows, {
            cmd: claim.cmd,
            time: latestNow(vault.clock),
            result: { tokens: [], ...claim.result },
          }),
  });
  if (outcome === 'claimed') throw new StoreUnavailable('claims', 'taken_over');
  if (outcome !== 'committed') return false;
  // Threat: an attacker replaces a row with an older version of the row. The key store must have recorded the new
  // revisions before the response is sent, so that the vault detects the older version.
  if (records.length > 0) await vault.keys.noteDirectory(records);
  return true;
}
