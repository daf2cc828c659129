import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { issueKey, revokeKey } from '../../commands/tenancy/api-keys.js';
import { deleteApplication } from '../../commands/tenancy/applications.js';
import type { ApplicationType } from '../../domain/access/application-type.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import { liveKeysMax } from '../../domain/tenancy/decide-directory.js';
import { rangeOf } from '../../http/pagination.js';
import { Problem, problemFrom } from '../../http/problem/problem.js';
import { directoryContextOf } from '../../http/request-state.js';
import { latestNow } from '../../ports/clock.js';
import { listApplications } from '../../queries/tenancy/list-applications.js';
import { keysWithLastUse, type ListedKey, listKeys } from '../../queries/tenancy/list-keys.js';
import { type LivingApplication, livingApplication } from '../../vault/open-directory.js';
import type { ConsolePage, Visit } from '../page.js';
import { pageLinks, pageNumber } from '../pagination.js';
import { resentFormRoute } from '../resent-form.js';
import { requirePermission } from '../route-access.js';
import { noPreview, type ShownPreview, shownPreview } from '../token-preview.js';
import { confirmed, errorOf, onceOf, typedForm } from '../typed-form.js';

const pageSize = 20;

/** Lists applications, shows each application with its access and its API keys, and issues and revokes API keys. */
export const applicationsPage: ConsolePage = {
  menu: { label: 'Applications', group: 'Access' },
  routes: [
    {
      method: 'GET',
      path: '/applications',
      session: 'management',
      permission: 'application:read',
      handle: list,
    },
    {
      method: 'GET',
      path: '/applications/:id',
      session: 'management',
      permission: 'application:read',
      handle: async (visit) => show(visit, await existingApplication(visit), {}),
    },
    resentFormRoute({ path: '/applications/:id', session: 'management', permission: 'application:read' }),
    {
      method: 'POST',
      path: '/applications/:id/preview',
      session: 'management',
      permission: 'application:read',
      handle: preview,
    },
    {
      method: 'POST',
      path: '/applications/:id/delete',
      session: 'management',
      permission: 'application:delete',
      handle: remove,
    },
    {
      method: 'POST',
      path: '/applications/:id/keys',
      session: 'management',
      permission: 'application:create',
      handle: (visit) => issue(visit, null),
    },
    {
      method: 'GET',
      path: '/applications/:id/keys/:keyId/rotate',
      session: 'management',
      permission: 'application:read',
      handle: async (visit) => {
        requirePermission(visit, 'application:create');
        return showKey(visit, 'applications/rotate', 'Rotate a key');
      },
    },
    {
      method: 'POST',
      path: '/applications/:id/keys/:keyId/rotate',
      session: 'management',
      permission: 'application:create',
      handle: async (visit) => {
        const { key } = await existingKey(visit);
        return issue(visit, key.id);
      },
    },
    {
      method: 'GET',
      path: '/applications/:id/keys/:keyId/revoke',
      session: 'management',
      permission: 'application:read',
      handle: async (visit) => {
        requirePermission(visit, 'application:delete');
        return showKey(visit, 'applications/revoke', 'Revoke a key');
      },
    },
    {
      method: 'POST',
      path: '/applications/:id/keys/:keyId/revoke',
      session: 'management',
      permission: 'application:delete',
      handle: async (visit) => {
        const id = visit.param('id');
        const revoked = await revokeKey(visit.vault, directoryContextOf(visit.request), id, visit.param('keyId'));
        if (!revoked.ok) throw problemFrom(revoked);
        const text = 'The key is revoked. It no longer works.';
        return visit.redirect(pathOf(id), { tone: 'good', text });
      },
    },
  ],
};

export function pathOf(id: string): string {
  return `/applications/${encodeURIComponent(id)}`;
}

/** Returns the application whose id is in the path. Throws Problem 404 if the application does not exist. */
export async function existingApplication({ vault, caller, param }: Visit): Promise<LivingApplication> {
  const application = await livingApplication(vault, caller.tenantId, param('id'));
  if (application === null) throw new Problem('application_not_found');
  return application;
}

/** Describes the purpose of each application type. */
export const typeNotes: Readonly<Record<ApplicationType, string>> = {
  private: 'For servers. Can read and reveal tokens within the access that you grant below.',
  public: 'For browsers and apps: may only create and update tokens. Its key does not need to be secret.',
  management: 'For administrators: applications, the tenant, webhooks, logs and reports. Never tokens.',
};

async function list(visit: Visit) {
  const { vault, caller } = visit;
  const page = { page: pageNumber(visit), size: pageSize };
  const found = await listApplications(vault, caller.tenantId, { ids: null, types: null }, rangeOf(page));
  const applications = await Promise.all(
    found.applications.map(async (application) => {
      const { id, document } = application;
      const keys = await keysWithLastUse(vault, application);
      const used = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
      return {
        id,
        path: pathOf(id),
        name: document.name,
        type: document.type,
        keys: keys.length,
        lastUsedAt: used.length === 0 ? null : Math.max(...used),
        ...expiryOf(visit, application),
      };
    }),
  );
  const model = {
    applications,
    links: pageLinks(page, found.total),
    mayCreate: grantsAnywhere(caller, 'application:create'),
  };
  return visit.page('applications/list', model, { title: 'Applications' });
}

function expiryOf({ vault }: Visit, { document: { expires_at: expiresAt } }: LivingApplication) {
  return { expiresAt, hasExpired: expiresAt !== null && expiresAt <= latestNow(vault.clock) };
}

type ShowOptions = {
  readonly preview?: ShownPreview;
  /** The reason why the deletion was not confirmed. */
  readonly error?: string | null;
  readonly status?: number;
};

async function show(visit: Visit, application: LivingApplication, options: ShowOptions) {
  const { vault, caller } = visit;
  const { id, document } = application;
  const { name, type, access } = document;
  const { status = 200 } = options;
  // Only reads with status 200 are recorded automatically, so other reads are recorded here.
  if (status !== 200) await recordManagementRead(vault, visit.context, 'application', id);
  const keys = await listKeys(vault, caller.tenantId, id);
  if (!keys.ok) throw problemFrom(keys);
  const rules = access.kind === 'rules' ? [...access.rules].sort((one, other) => one.priority - other.priority) : [];
  const model = {
    id,
    path: pathOf(id),
    name,
    type,
    typeNote: typeNotes[type],
    rules,
    permissions: access.kind === 'permissions' ? access.permissions : [],
    uses: access.kind,
    createdAt: document.created_at,
    createdBy: document.created_by,
    modifiedAt: document.modified_at,
    modifiedBy: document.modified_by,
    ...expiryOf(visit, application),
    keys: keys.value.map((key) => keyModel(visit, key)),
    isFull: keys.value.length >= liveKeysMax,
    isOwn: id === caller.applicationId,
    mayUpdate: grantsAnywhere(caller, 'application:update'),
    mayIssue: grantsAnywhere(caller, 'application:create'),
    mayDelete: grantsAnywhere(caller, 'application:delete'),
    once: vault.random.uuid(),
    preview: type === 'management' ? null : (options.preview ?? noPreview()),
    confirmation: { path: `${pathOf(id)}/delete`, name, what: 'application', error: options.error ?? null },
  };
  return visit.page('applications/show', model, { title: 'Application', status });
}

function keyModel({ caller }: Visit, { id, created_by, created_at, lastUsedAt }: ListedKey) {
  return { id, createdBy: created_by, createdAt: created_at, lastUsedAt, isOwn: id === caller.keyId };
}

async function preview(visit: Visit) {
  const application = await existingApplication(visit);
  const form = typedForm(visit);
  const asked = { tokenId: form.text('token_id'), permission: form.text('permission') };
  const shown = await shownPreview(visit, { applicationId: application.id, ...asked }, null);
  return show(visit, application, { preview: shown, status: shown.error === null ? 200 : 400 });
}

async function remove(visit: Visit) {
  const application = await existingApplication(visit);
  const isConfirmed = confirmed(typedForm(visit).text('confirmation'), application.document.name);
  if (!isConfirmed.ok) {
    requirePermission(visit, 'application:read');
    return show(visit, application, { error: errorOf(isConfirmed.errors, 'confirmation'), status: 400 });
  }
  const deleted = await deleteApplication(visit.vault, directoryContextOf(visit.request), application.id);
  if (!deleted.ok) throw problemFrom(deleted);
  return visit.redirect('/applications', {
    tone: 'good',
    text: 'The application is deleted. Its keys no longer work.',
  });
}

/** Issues an API key and shows it once. If `replaces` is the id of a key, the page offers to revoke that key. */
async function issue(visit: Visit, replaces: string | null) {
  const { vault, request, param } = visit;
  const id = param('id');
  const once = onceOf(visit, `/applications/${id}/keys`);
  const issued = await issueKey(vault, directoryContextOf(request), id, once);
  if (!issued.ok) throw problemFrom(issued);
  const { key, shown } = issued.value;
  const model = {
    path: pathOf(id),
    keyId: key.id,
    value: shown?.reveal() ?? null,
    isNew: false,
    revokePath: replaces === null ? null : `${pathOf(id)}/keys/${encodeURIComponent(replaces)}/revoke`,
  };
  return visit.page('applications/issued', model, { title: replaces === null ? 'New key' : 'Rotate a key' });
}

async function existingKey(
  visit: Visit,
): Promise<{ readonly key: ListedKey; readonly application: LivingApplication }> {
  const application = await existingApplication(visit);
  const keys = await listKeys(visit.vault, visit.caller.tenantId, application.id);
  if (!keys.ok) throw problemFrom(keys);
  const key = keys.value.find(({ id }) => id === visit.param('keyId'));
  if (key === undefined) throw new Problem('application_key_not_found');
  return { key, application };
}

async function showKey(visit: Visit, view: string, title: string) {
  const { key, application } = await existingKey(visit);
  const { id, document } = application;
  const model = {
    path: pathOf(id),
    name: document.name,
    key: keyModel(visit, key),
    isFull: document.keys.length >= liveKeysMax,
    isLast: document.keys.length === 1,
    once: visit.vault.random.uuid(),
  };
  return visit.page(view, model, { title });
}
