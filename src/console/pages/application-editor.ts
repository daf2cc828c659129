import { z } from 'zod';
import { createApplication, updateApplication } from '../../commands/tenancy/applications.js';
import { type ApplicationType, applicationTypes } from '../../domain/access/application-type.js';
import { parseAccess } from '../../domain/access/parse-access.js';
import { errorsOf, type FieldErrors, valid } from '../../domain/field-errors.js';
import type { ApplicationDocument } from '../../domain/tenancy/documents.js';
import { parseApplication, parseName } from '../../domain/tenancy/parse-directory.js';
import { lastChangeOf } from '../../domain/tenancy/stamps.js';
import { checkExpiresAt } from '../../domain/token/fields/expires-at.js';
import { problemFrom } from '../../http/problem/problem.js';
import { problemCatalogue } from '../../http/problem/problem-catalogue.js';
import { directoryContextOf } from '../../http/request-state.js';
import type { LivingApplication } from '../../vault/open-directory.js';
import {
  type ApplicationForm,
  accessFields,
  edited,
  emptyForm,
  formModel,
  formOf,
  postedForm,
} from '../application-form.js';
import type { ConsolePage, Visit } from '../page.js';
import { requirePermission } from '../route-access.js';
import { noPreview, type ShownPreview, shownPreview } from '../token-preview.js';
import { onceOf, type TypedForm, typedForm, versionOf } from '../typed-form.js';
import { existingApplication, pathOf, typeNotes } from './applications.js';

/**
 * Creates and changes applications. The editor does not need a script. Each button in the rule list posts the whole
 * form, and the response contains the changed form. Only `save` stores the application.
 */
export const applicationEditorPage: ConsolePage = {
  routes: [
    {
      method: 'GET',
      path: '/applications/new',
      session: 'management',
      permission: 'application:create',
      handle: (visit) => {
        const { type } = visit.query(typeQuery);
        return showNew(visit, type, emptyForm(type), {});
      },
    },
    {
      method: 'POST',
      path: '/applications/new',
      session: 'management',
      permission: 'application:create',
      handle: create,
    },
    {
      method: 'GET',
      path: '/applications/:id/edit',
      session: 'management',
      permission: 'application:read',
      handle: async (visit) => {
        requirePermission(visit, 'application:update');
        const application = await existingApplication(visit);
        return showEdit(visit, application, formOf(application.document), {});
      },
    },
    {
      method: 'POST',
      path: '/applications/:id/edit',
      session: 'management',
      permission: 'application:update',
      handle: update,
    },
  ],
};

const typeField = z.enum(applicationTypes).catch('private');
const typeQuery = z.object({ type: typeField });

/** The fields of the editor page that are not part of the form. */
type Options = {
  readonly errors?: FieldErrors;
  readonly focus?: number | null;
  readonly status?: number;
  readonly preview?: ShownPreview;
  /** A problem that concerns the whole request. The page shows it above the form. */
  readonly problem?: { readonly title: string; readonly detail: string } | null;
  /** True if the form was checked and can be saved. */
  readonly isChecked?: boolean;
};

function editorModel(type: ApplicationType, form: ApplicationForm, options: Options) {
  const { errors = {}, focus = null, problem = null, isChecked = false } = options;
  return { form: formModel(type, form, errors, focus), problem, isChecked };
}

function showNew(visit: Visit, type: ApplicationType, form: ApplicationForm, options: Options) {
  const model = {
    ...editorModel(type, form, options),
    isNew: true,
    action: '/applications/new',
    back: '/applications',
    version: '',
    preview: null,
    typeNote: typeNotes[type],
    types: applicationTypes.map((one) => ({ type: one, isChosen: one === type })),
    once: visit.vault.random.uuid(),
  };
  return visit.page('applications/edit', model, { title: 'New application', status: options.status ?? 200 });
}

function showEdit(visit: Visit, { id, document }: LivingApplication, form: ApplicationForm, options: Options) {
  const preview = document.type === 'management' ? null : (options.preview ?? noPreview());
  const model = {
    ...editorModel(document.type, form, options),
    isNew: false,
    action: `${pathOf(id)}/edit`,
    back: pathOf(id),
    version: versionOf(document),
    preview,
    types: [],
    typeNote: '',
    once: '',
  };
  return visit.page('applications/edit', model, { title: 'Edit application', status: options.status ?? 200 });
}

async function create(visit: Visit) {
  const { vault, request } = visit;
  const posted = typedForm(visit);
  const type = typeField.parse(posted.text('type'));
  const form = postedForm(posted);
  const button = edited(form, posted.text('do'));
  if (button !== null) return showNew(visit, type, button.form, { focus: button.focus });
  const spec = parseApplication(
    { name: form.name, type, ...accessFields(form), expires_at: expiryIn(form) },
    vault.clock.now(),
  );
  if (!spec.ok) return showNew(visit, type, form, { errors: spec.errors, status: 400 });
  if (posted.text('do') !== 'save') return showNew(visit, type, form, { isChecked: true });
  const created = await createApplication(
    vault,
    directoryContextOf(request),
    spec.value,
    onceOf(visit, '/applications'),
  );
  if (!created.ok) throw problemFrom(created);
  const { id, key, document } = created.value;
  const model = {
    path: pathOf(id),
    keyId: document.keys[0]?.id ?? '',
    value: key?.reveal() ?? null,
    isNew: true,
    revokePath: null,
  };
  return visit.page('applications/issued', model, { title: 'The application is created' });
}

function expiryIn({ expiresAt }: ApplicationForm): string | null {
  return expiresAt === '' ? null : expiresAt;
}

async function update(visit: Visit) {
  const application = await existingApplication(visit);
  const { id, document } = application;
  const posted = typedForm(visit);
  const form = postedForm(posted, document);
  const doing = posted.text('do');
  const button = edited(form, doing);
  if (button !== null) {
    const preview = keptPreview(document.type, posted);
    return showEdit(visit, application, button.form, { focus: button.focus, ...preview });
  }
  if (doing === 'save') return save(visit, application, form, posted);
  const errors = errorsIn(visit, application, form);
  if (errors !== null)
    return showEdit(visit, application, form, { errors, status: 400, ...keptPreview(document.type, posted) });
  const asked = { applicationId: id, tokenId: posted.text('token_id'), permission: posted.text('permission') };
  if (document.type === 'management' || (doing !== 'preview' && asked.tokenId === '')) {
    return showEdit(visit, application, form, { isChecked: true });
  }
  const preview = await shownPreview(visit, asked, accessFields(form));
  return showEdit(visit, application, form, { preview, status: preview.error === null ? 200 : 400 });
}

function keptPreview(type: ApplicationType, posted: TypedForm): Pick<Options, 'preview'> {
  if (type === 'management') return {};
  return { preview: noPreview({ tokenId: posted.text('token_id'), permission: posted.text('permission') }) };
}

/** Returns the errors that the API would return for the form, or null if the form is valid. */
function errorsIn({ vault }: Visit, { document }: LivingApplication, form: ApplicationForm): FieldErrors | null {
  const { expires_at: expiresAt } = changedExpiry(document, form);
  return errorsOf([
    parseName(form.name),
    parseAccess(accessFields(form), document.type),
    expiresAt === undefined ? valid(null) : checkExpiresAt(expiresAt, vault.clock.now()),
  ]);
}

/**
 * Returns the expiry in the form if the person has changed it. A changed expiry must be in the future, and a stored one
 * may be in the past, so an update must not contain an unchanged expiry.
 */
function changedExpiry(document: ApplicationDocument, form: ApplicationForm): { readonly expires_at?: string | null } {
  return form.expiresAt === formOf(document).expiresAt ? {} : { expires_at: expiryIn(form) };
}

async function save(visit: Visit, application: LivingApplication, form: ApplicationForm, posted: TypedForm) {
  const { vault, request } = visit;
  const { id, document } = application;
  const kept = keptPreview(document.type, posted);
  const showConflict = async () => {
    const problem = {
      title: 'The application has changed since you opened this page',
      detail:
        'Nothing was saved. Open the application in another tab to compare. Save again to overwrite the other ' +
        'change.',
    };
    return showEdit(visit, await existingApplication(visit), form, { problem, status: 409, ...kept });
  };
  if (posted.text('version') !== versionOf(document)) return showConflict();
  const errors = errorsIn(visit, application, form);
  if (errors !== null) return showEdit(visit, application, form, { errors, status: 400, ...kept });
  const changes = { name: form.name, ...accessFields(form), ...changedExpiry(document, form) };
  const seen = { seenChange: lastChangeOf(document) };
  const updated = await updateApplication(vault, directoryContextOf(request), id, changes, seen);
  if (updated.ok) {
    const text = 'Saved. The change applies to every key of the application.';
    return visit.redirect(pathOf(id), { tone: 'good', text });
  }
  if (updated.code === 'precondition_failed') return showConflict();
  if (updated.errors !== undefined) {
    return showEdit(visit, application, form, { errors: updated.errors, status: 400, ...kept });
  }
  const problem = problemCatalogue[updated.code];
  // Problems other than 409 are thrown. The error handler then shows the error page and records a 403 in the access
  // log.
  if (problem.status !== 409) throw problemFrom(updated);
  return showEdit(visit, application, form, { problem, status: 409, ...kept });
}
