import { parseAccess } from '../access/parse-access.js';
import { documentOf } from './access-document.js';
import { leavesNoAdministrator } from './administrators.js';
import type { Doer } from './decide-application.js';
import type { ApplicationCommand } from './directory-command.js';
import { type DirectoryDecided, decided, refused, refusedFields } from './directory-decision.js';
import type { ApplicationDocument } from './documents.js';
import { holdsAllOf } from './management-permissions.js';
import type { TenantDirectory } from './tenant-directory.js';

type Update = Extract<ApplicationCommand, { do: 'update_application' }>;

/** Decides a `PUT` on an application that its caller may change as it is. Contract, section 10. */
export function decideUpdate(
  { id, name, type, access: fields, expiresAt }: Update,
  application: ApplicationDocument,
  { holder, stamp }: Doer,
  directory: TenantDirectory,
): DirectoryDecided {
  if (type !== undefined && type !== null && type !== application.type) {
    return refusedFields({ type: ['cannot change; make another application'] });
  }
  const parsed = parseAccess(fields, application.type);
  if (!parsed.ok) return refusedFields(parsed.errors);
  const access = documentOf(parsed.value);
  if (holder !== null && !holdsAllOf(holder.access, access)) return refused('exceeds_own_permissions');
  const next = {
    ...application,
    name,
    access,
    expires_at: expiresAt === undefined ? application.expires_at : expiresAt,
  };
  const changed = changedFields(application, next);
  if (changed.length === 0) return decided();
  if (leavesNoAdministrator(directory, id, next)) return refused('last_administrator');
  const document = { ...next, modified_by: stamp.by, modified_at: stamp.at };
  return decided({ type: 'application.updated', applicationId: id, document, changed });
}

function changedFields(before: ApplicationDocument, after: ApplicationDocument): readonly string[] {
  const sameAccess = JSON.stringify(before.access) === JSON.stringify(after.access);
  return [
    ...(before.name === after.name ? [] : ['name']),
    ...(sameAccess ? [] : new Set([before.access.kind, after.access.kind])),
    ...(before.expires_at === after.expires_at ? [] : ['expires_at']),
  ];
}
