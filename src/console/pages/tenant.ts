import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { deleteTenant } from '../../commands/tenancy/delete-tenant.js';
import { updateTenant } from '../../commands/tenancy/update-tenant.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import type { FieldErrors } from '../../domain/field-errors.js';
import type { TenantDocument } from '../../domain/tenancy/documents.js';
import { lastChangeOf } from '../../domain/tenancy/stamps.js';
import { Problem, problemFrom } from '../../http/problem/problem.js';
import { directoryContextOf } from '../../http/request-state.js';
import { usageReport } from '../../queries/tenancy/usage-report.js';
import { tenantDocument } from '../../vault/open-directory.js';
import { cookieNames, cookieOptions } from '../cookies.js';
import type { ConsolePage, Visit } from '../page.js';
import { requirePermission } from '../route-access.js';
import { closeSession } from '../sessions.js';
import { confirmed, errorOf, typedForm, versionOf } from '../typed-form.js';

const settingNames = ['deduplicate_tokens', 'keep_superseded_data', 'show_fingerprints'] as const;

const settingTexts: Readonly<Record<(typeof settingNames)[number], { readonly label: string; readonly hint: string }>> =
  {
    deduplicate_tokens: {
      label: 'Deduplicate tokens',
      hint: 'Storing a value that already exists returns the existing token, unless the request says otherwise.',
    },
    keep_superseded_data: {
      label: 'Keep superseded data',
      hint:
        'An update keeps the key of the data that it replaces until the token is deleted, so that an operator can ' +
        'replay earlier states. Each token keeps the 10,000 newest of these keys. If this setting is off, replaced ' +
        'data is erased.',
    },
    show_fingerprints: {
      label: 'Show fingerprints',
      hint:
        'Callers that see a token masked or redacted also see its fingerprint. Equal values have equal ' +
        'fingerprints, so an application that may create tokens can find a hidden value by trying candidates. No ' +
        'limit slows this down.',
    },
  };

/** Shows, changes and deletes the tenant of the session's management application. */
export const tenantPage: ConsolePage = {
  menu: { label: 'Tenant', group: 'Access' },
  routes: [
    {
      method: 'GET',
      path: '/tenant',
      session: 'management',
      permission: 'tenant:read',
      handle: async (visit) => show(visit, await existingTenant(visit), {}),
    },
    { method: 'POST', path: '/tenant', session: 'management', permission: 'tenant:update', handle: update },
    { method: 'POST', path: '/tenant/delete', session: 'management', permission: 'tenant:delete', handle: remove },
  ],
};

async function existingTenant({ vault, caller }: Visit): Promise<TenantDocument> {
  const tenant = await tenantDocument(vault, caller.tenantId);
  // The session was valid when the request began, so another request must have deleted the tenant since then.
  if (tenant === null) throw new Problem('unauthenticated');
  return tenant;
}

type Options = {
  readonly errors?: FieldErrors;
  readonly status?: number;
  /** The values that the person typed. If they are absent, the form shows the saved values. */
  readonly typed?: Pick<TenantDocument, 'name' | 'settings'>;
  readonly isConflict?: boolean;
};

async function show(visit: Visit, tenant: TenantDocument, options: Options) {
  const { caller } = visit;
  // A caller may have permission to change or delete the tenant but not to read it. If the form of such a caller is
  // rejected, the tenant must not be shown.
  requirePermission(visit, 'tenant:read');
  const { errors = {}, typed = tenant, isConflict = false, status = 200 } = options;
  const model = {
    id: caller.tenantId,
    name: tenant.name,
    typedName: typed.name,
    version: versionOf(tenant),
    isConflict,
    createdAt: tenant.created_at,
    modifiedAt: tenant.modified_at,
    settings: settingNames.map((name) => ({
      name,
      ...settingTexts[name],
      isOn: typed.settings[name] === 'true',
      isSaved: tenant.settings[name] === 'true',
    })),
    usage: await usage(visit),
    mayUpdate: grantsAnywhere(caller, 'tenant:update'),
    mayDelete: grantsAnywhere(caller, 'tenant:delete'),
    nameError: errorOf(errors, 'name'),
    confirmation: {
      path: '/tenant/delete',
      name: tenant.name,
      what: 'tenant',
      error: errorOf(errors, 'confirmation'),
    },
  };
  // Only reads with status 200 are recorded automatically, so other reads are recorded here.
  if (status !== 200) await recordManagementRead(visit.vault, visit.context, 'tenant', null);
  return visit.page('tenant', model, { title: 'Tenant', status });
}

/** Returns how many tokens of each type the tenant has, or null if the caller may not see the report. */
async function usage({ vault, context }: Visit) {
  const { caller } = context;
  if (!grantsAnywhere(caller, 'report:read')) return null;
  const { total, byType } = await usageReport(vault, caller.tenantId);
  await recordManagementRead(vault, context, 'report', null);
  return { total, types: [...byType].map(([type, count]) => ({ type, count })) };
}

async function update(visit: Visit) {
  const { vault, request } = visit;
  const tenant = await existingTenant(visit);
  const form = typedForm(visit);
  const setting = (name: (typeof settingNames)[number]) => (form.text(name) === 'true' ? 'true' : 'false');
  const typed = {
    name: form.text('name', tenant.name),
    settings: {
      deduplicate_tokens: setting('deduplicate_tokens'),
      keep_superseded_data: setting('keep_superseded_data'),
      show_fingerprints: setting('show_fingerprints'),
    },
  } as const;
  const showConflict = async () => show(visit, await existingTenant(visit), { typed, isConflict: true, status: 409 });
  if (form.text('version') !== versionOf(tenant)) return showConflict();
  const seen = { seenChange: lastChangeOf(tenant) };
  const updated = await updateTenant(vault, directoryContextOf(request), typed, seen);
  if (updated.ok) return visit.redirect('/tenant', { tone: 'good', text: 'Saved.' });
  if (updated.code === 'precondition_failed') return showConflict();
  if (updated.errors === undefined) throw problemFrom(updated);
  return show(visit, tenant, { typed, errors: updated.errors, status: 400 });
}

/** Deletes the tenant and closes the session, because the tenant's API keys are no longer valid. */
async function remove(visit: Visit) {
  const { vault, request, reply } = visit;
  const tenant = await existingTenant(visit);
  const isConfirmed = confirmed(typedForm(visit).text('confirmation'), tenant.name);
  if (!isConfirmed.ok) return show(visit, tenant, { errors: isConfirmed.errors, status: 400 });
  const deleted = await deleteTenant(vault, directoryContextOf(request), tenant.name);
  if (!deleted.ok) throw problemFrom(deleted);
  await closeSession(vault, request.cookies[cookieNames.session] ?? '');
  reply.clearCookie(cookieNames.session, cookieOptions);
  const text = 'The tenant is deleted. None of its tokens can be decrypted anymore.';
  return visit.redirect('/sign-in', { tone: 'good', text });
}
