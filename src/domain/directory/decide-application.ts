import { leavesNoAdministrator } from './administrators.js';
import { decideUpdate } from './decide-application-update.js';
import type { ApplicationCommand, NewKey } from './directory-command.js';
import { type DirectoryDecided, decided, refused } from './directory-decision.js';
import type { ApiKeyDocument, ApplicationDocument } from './documents.js';
import { holdsAllOf } from './management-permissions.js';
import type { TenantDirectory } from './tenant-directory.js';

export const liveKeysMax = 3;

/** Whose doing it is. `holder` null: the operator, who is bound by no permission. */
export type Doer = {
  readonly holder: ApplicationDocument | null;
  readonly stamp: { readonly by: string; readonly at: number };
};

/**
 * Decides what becomes of an application and its keys. Threat: a management application that makes, changes or takes the
 * key of a stronger one would be as strong; so it must hold every management permission which that one has or shall
 * have. Contract, section 10.
 */
export function decideApplication(
  command: ApplicationCommand,
  doer: Doer,
  directory: TenantDirectory,
): DirectoryDecided {
  if (directory.tenant === null) return refused('tenant_not_found');
  const application = directory.applications.get(command.id);
  if (command.do === 'create_application') {
    if (application !== undefined) throw new Error('an application id is given once');
    return create(command, doer);
  }
  if (application === undefined) return refused('application_not_found');
  if (doer.holder !== null && !holdsAllOf(doer.holder.access, application.access)) {
    return refused('exceeds_own_permissions');
  }
  const { id } = command;
  switch (command.do) {
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

type Creation = Extract<ApplicationCommand, { do: 'create_application' }>;

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
