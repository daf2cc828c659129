import { parseAccess } from '../access/parse-access.js';
import type { ManagementPermission } from '../access/permission.js';
import type { TenantSettings } from '../access/tenant-settings.js';
import { type Actor, actorId } from './actor.js';
import { heldManagementPermissions, holdsAllOf, leavesNoAdministrator } from './administrators.js';
import type { ApplicationCommand, DirectoryCommand, NewKey, WebhookCommand } from './directory-command.js';
import {
  type DirectoryDecided,
  type DirectoryRejection,
  decided,
  refused,
  refusedFields,
} from './directory-decision.js';
import { type ApiKeyDocument, type ApplicationDocument, documentOf } from './documents.js';
import { lastChangeOf, type Stamps } from './stamps.js';
import type { TenantDirectory } from './tenant-directory.js';
import { rotatedSecrets, type WebhookDocument, webhooksMax } from './webhook.js';

/** The actor of a command, and the time of the command in milliseconds since the epoch. */
type By = { readonly actor: Actor; readonly at: number };

/** The author of a change as documents record it, and the time of the change. */
type Stamp = { readonly by: string; readonly at: number };

const needed: Readonly<Record<DirectoryCommand['kind'], ManagementPermission | 'operator'>> = {
  create_tenant: 'operator',
  update_tenant: 'tenant:update',
  delete_tenant: 'tenant:delete',
  create_application: 'application:create',
  update_application: 'application:update',
  delete_application: 'application:delete',
  issue_key: 'application:create',
  revoke_key: 'application:delete',
  create_webhook: 'webhook:create',
  update_webhook: 'webhook:update',
  rotate_webhook_secret: 'webhook:update',
  delete_webhook: 'webhook:delete',
};

/**
 * Decides a command on a tenant's directory. This function is pure: it uses neither a clock nor keys. Threat: a caller
 * loses its rights after it was authenticated, and its command is still executed. The function therefore checks the
 * rights again, based on the same state of the directory that the events will be appended to. See docs/contract.md,
 * "Management rights".
 */
export function decideDirectory(command: DirectoryCommand, by: By, directory: TenantDirectory): DirectoryDecided {
  const holder = by.actor.kind === 'operator' ? null : callerOf(by.actor, by.at, directory);
  if (typeof holder === 'string') return refused(holder);
  const permission = needed[command.kind];
  if (holder !== null) {
    const held: readonly string[] = heldManagementPermissions(holder.access);
    if (!held.includes(permission)) return refused('permission_missing');
  }
  const stamp = { by: actorId(by.actor), at: by.at };
  if ('id' in command) return decideApplication(command, { holder, stamp }, directory);
  if ('webhookId' in command) return decideWebhook(command, stamp, directory);
  return decideTenant(command, stamp, directory);
}

function callerOf(
  { applicationId, keyId }: Extract<Actor, { kind: 'application' }>,
  at: number,
  { tenant, applications }: TenantDirectory,
): ApplicationDocument | Extract<DirectoryRejection, 'unauthenticated'> {
  const caller = applications.get(applicationId);
  if (tenant === null || caller === undefined) return 'unauthenticated';
  if (keyId !== null && !caller.keys.some(({ id }) => id === keyId)) return 'unauthenticated';
  return caller.expires_at !== null && at >= caller.expires_at ? 'unauthenticated' : caller;
}

const defaultSettings: TenantSettings = {
  deduplicate_tokens: 'false',
  keep_superseded_data: 'false',
  show_fingerprints: 'false',
};

type TenantCommand = Exclude<DirectoryCommand, { readonly id: string } | { readonly webhookId: string }>;

/** Decides a command on the tenant itself. See docs/contract.md, "Tenants". */
function decideTenant(command: TenantCommand, stamp: Stamp, { tenant, revision }: TenantDirectory): DirectoryDecided {
  if (command.kind === 'create_tenant') {
    if (revision !== -1) throw new Error('a tenant is created only once');
    const stamps = { created_by: stamp.by, created_at: stamp.at, modified_by: null, modified_at: null };
    return decided({
      type: 'tenant.created',
      document: { name: command.name, settings: defaultSettings, webhooks: [], ...stamps },
    });
  }
  if (tenant === null) return refused('tenant_not_found');
  if (command.kind === 'delete_tenant') {
    if (command.name === tenant.name) return decided({ type: 'tenant.deleted' });
    return refusedFields({ name: ['must repeat the name of the tenant'] });
  }
  if (hasChangedSince(command.seenChange, tenant)) return refused('precondition_failed');
  const settings = { ...tenant.settings, ...command.settings };
  const next = { ...tenant, name: command.name, settings };
  const changed = changedFields(tenant, next);
  if (changed.length === 0) return decided();
  const document = { ...next, modified_by: stamp.by, modified_at: stamp.at };
  return decided({ type: 'tenant.updated', document, changed });
}

/** Returns whether the document was changed after the change that the caller has seen. */
function hasChangedSince(
  seenChange: number | undefined,
  document: Pick<Stamps, 'created_at' | 'modified_at'>,
): boolean {
  return seenChange !== undefined && seenChange !== lastChangeOf(document);
}

/** Decides a command on a webhook. See docs/contract.md, "Webhooks". */
function decideWebhook(command: WebhookCommand, { by, at }: Stamp, { tenant }: TenantDirectory): DirectoryDecided {
  if (tenant === null) return refused('tenant_not_found');
  const { webhookId } = command;
  const before = tenant.webhooks.find(({ id }) => id === webhookId);
  if (command.kind === 'create_webhook') {
    if (before !== undefined) throw new Error('a webhook id is used only once');
    if (tenant.webhooks.length >= webhooksMax) return refused('too_many_webhooks');
    const webhook: WebhookDocument = {
      id: webhookId,
      ...command.spec,
      secrets: [{ ...command.secret, created_at: at, ends_at: null }],
      id_key: command.idKey,
      created_by: by,
      created_at: at,
      modified_by: null,
      modified_at: null,
    };
    return decided({
      type: 'webhook.created',
      webhookId,
      document: { ...tenant, webhooks: [...tenant.webhooks, webhook] },
    });
  }
  if (before === undefined) return refused('webhook_not_found');
  if (command.kind === 'delete_webhook') {
    const webhooks = tenant.webhooks.filter(({ id }) => id !== webhookId);
    return decided({ type: 'webhook.deleted', webhookId, document: { ...tenant, webhooks } });
  }
  if (hasChangedSince(command.seenChange, before)) return refused('precondition_failed');
  const changed =
    command.kind === 'update_webhook' ? changedFields(before, { ...before, ...command.spec }) : ['secret'];
  if (changed.length === 0) return decided();
  const after: WebhookDocument = {
    ...before,
    ...(command.kind === 'update_webhook' ? command.spec : { secrets: rotatedSecrets(before, command, at) }),
    modified_by: by,
    modified_at: at,
  };
  const webhooks = tenant.webhooks.map((webhook) => (webhook.id === webhookId ? after : webhook));
  return decided({ type: 'webhook.updated', webhookId, document: { ...tenant, webhooks }, changed });
}

/** Returns the names of the fields that differ. Compares all fields, so that a new field cannot be forgotten. */
function changedFields<Document extends object>(before: Document, after: Document): readonly (keyof Document)[] {
  const fields = Object.keys(after) as (keyof Document)[];
  return fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
}

/** The maximum number of live keys of an application. */
export const liveKeysMax = 3;

/** The author of a change. `holder` is the author's application, or null for the operator, who needs no permission. */
type Doer = {
  readonly holder: ApplicationDocument | null;
  readonly stamp: Stamp;
};

/**
 * Decides a command on an application or its keys. Threat: a management application gains rights by creating or
 * changing a more privileged application, or by issuing a key for such an application. The caller must therefore have
 * every management permission that the other application has or will have. See docs/contract.md, "Management rights".
 */
function decideApplication(command: ApplicationCommand, doer: Doer, directory: TenantDirectory): DirectoryDecided {
  if (directory.tenant === null) return refused('tenant_not_found');
  const application = directory.applications.get(command.id);
  if (command.kind === 'create_application') {
    if (application !== undefined) throw new Error('an application id is used only once');
    return create(command, doer);
  }
  if (application === undefined) return refused('application_not_found');
  if (doer.holder !== null && !holdsAllOf(doer.holder.access, application.access)) {
    return refused('exceeds_own_permissions');
  }
  const { id } = command;
  switch (command.kind) {
    case 'update_application':
      return decideUpdate(command, application, doer, directory);
    case 'delete_application':
      if (leavesNoAdministrator(directory, id, null)) return refused('last_administrator');
      return decided({ type: 'application.deleted', applicationId: id });
    case 'issue_key':
      return issueKey(id, application, command.key, doer);
    case 'revoke_key':
      return revokeKey(id, application, command.keyId, directory);
  }
}

type Creation = Extract<ApplicationCommand, { kind: 'create_application' }>;

function create({ id, spec, key }: Creation, doer: Doer): DirectoryDecided {
  const { name, type, access, expiresAt } = spec;
  if (doer.holder !== null && !holdsAllOf(doer.holder.access, access)) return refused('exceeds_own_permissions');
  const { by, at } = doer.stamp;
  const stamps = { created_by: by, created_at: at, modified_by: null, modified_at: null };
  const document: ApplicationDocument = { name, type, access, expires_at: expiresAt, keys: [], ...stamps };
  const keyed = { ...document, keys: [stampedKey(key, doer)] };
  return decided(
    { type: 'application.created', applicationId: id, document },
    { type: 'application.key.issued', applicationId: id, keyId: key.id, keyHash: key.hash, document: keyed },
  );
}

function issueKey(applicationId: string, application: ApplicationDocument, key: NewKey, doer: Doer): DirectoryDecided {
  if (application.keys.length >= liveKeysMax) return refused('too_many_keys');
  const document = { ...application, keys: [...application.keys, stampedKey(key, doer)] };
  return decided({ type: 'application.key.issued', applicationId, keyId: key.id, keyHash: key.hash, document });
}

function revokeKey(
  applicationId: string,
  application: ApplicationDocument,
  keyId: string,
  directory: TenantDirectory,
): DirectoryDecided {
  const key = application.keys.find(({ id }) => id === keyId);
  if (key === undefined) return refused('application_key_not_found');
  const document = { ...application, keys: application.keys.filter(({ id }) => id !== keyId) };
  if (leavesNoAdministrator(directory, applicationId, document)) return refused('last_administrator');
  return decided({ type: 'application.key.revoked', applicationId, keyId, keyHash: key.hash, document });
}

function stampedKey({ id, hash }: NewKey, { stamp }: Doer): ApiKeyDocument {
  return { id, hash, created_by: stamp.by, created_at: stamp.at };
}

type Update = Extract<ApplicationCommand, { kind: 'update_application' }>;

/** The fields that an update can change. A new field of applications is one of them, unless it is excluded here. */
type UpdatedFields = Omit<ApplicationDocument, keyof Stamps | 'type' | 'keys'>;

/**
 * Decides a `PUT` on an application. `decideApplication` has already checked that the caller has all of the
 * application's current management permissions. See docs/contract.md, "Management rights".
 */
function decideUpdate(
  { id, name, type, access: fields, expiresAt, seenChange }: Update,
  application: ApplicationDocument,
  { holder, stamp }: Doer,
  directory: TenantDirectory,
): DirectoryDecided {
  if (hasChangedSince(seenChange, application)) return refused('precondition_failed');
  if (type !== undefined && type !== null && type !== application.type) {
    return refusedFields({ type: ['cannot change; create another application'] });
  }
  const parsed = parseAccess(fields, application.type);
  if (!parsed.ok) return refusedFields(parsed.errors);
  const access = documentOf(parsed.value);
  if (holder !== null && !holdsAllOf(holder.access, access)) return refused('exceeds_own_permissions');
  const updated: UpdatedFields = {
    name,
    access,
    expires_at: expiresAt === undefined ? application.expires_at : expiresAt,
  };
  const next = { ...application, ...updated };
  // `access` has the name of its kind in requests.
  const changed = changedFields(application, next).flatMap((field) =>
    field === 'access' ? [...new Set([application.access.kind, access.kind])] : [field],
  );
  if (changed.length === 0) return decided();
  if (leavesNoAdministrator(directory, id, next)) return refused('last_administrator');
  const document = { ...next, modified_by: stamp.by, modified_at: stamp.at };
  return decided({ type: 'application.updated', applicationId: id, document, changed });
}
