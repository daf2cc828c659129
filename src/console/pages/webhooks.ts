import { z } from 'zod';
import { recordConsoleAct } from '../../audit/access-log/record-console-act.js';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import {
  createWebhookOnce,
  deleteWebhook,
  rotateWebhookSecret,
  switchWebhook,
  updateWebhook,
} from '../../commands/tenancy/webhooks.js';
import { sendTestEvent } from '../../commands/webhooks/post-to-webhook.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import type { FieldErrors } from '../../domain/field-errors.js';
import type { Secret } from '../../domain/secret.js';
import { lastChangeOf } from '../../domain/tenancy/stamps.js';
import {
  type WebhookDocument,
  type WebhookFields,
  webhookEventTypes,
  webhooksMax,
} from '../../domain/tenancy/webhook.js';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { rangeOf } from '../../http/pagination.js';
import { Problem, problemFrom } from '../../http/problem/problem.js';
import { directoryContextOf } from '../../http/request-state.js';
import { attemptOutcomes } from '../../ports/webhook-store.js';
import { findWebhook, listDeliveries, listWebhooks } from '../../queries/tenancy/webhooks.js';
import type { ConsolePage, Visit } from '../page.js';
import { pageField, pageLinks } from '../pagination.js';
import { ConsoleProblem } from '../problem.js';
import { resentFormRoute } from '../resent-form.js';
import { requirePermission } from '../route-access.js';
import { listOf } from '../token-form.js';
import { errorOf, onceOf, type TypedForm, typedForm, versionOf } from '../typed-form.js';
import { parseTypedTime } from '../typed-time.js';

const pageSize = 20;
const hourMs = 3_600_000;
/** The options for how long the old secret continues to sign deliveries. `value` is the text submitted by the form. */
const overlaps = [
  { value: '24', label: 'for a day', ms: 24 * hourMs },
  { value: '168', label: 'for a week', ms: 168 * hourMs },
  { value: '1', label: 'for an hour', ms: hourMs },
  { value: '0', label: 'no longer: it has leaked', ms: 0 },
] as const;

/** Lists, creates and changes webhooks, and shows their deliveries. */
export const webhooksPage: ConsolePage = {
  menu: { label: 'Webhooks', group: 'Access' },
  routes: [
    { method: 'GET', path: '/webhooks', session: 'management', permission: 'webhook:read', handle: list },
    {
      method: 'GET',
      path: '/webhooks/new',
      session: 'management',
      permission: 'webhook:create',
      handle: (visit) => showForm(visit, null, emptyFields, {}),
    },
    { method: 'POST', path: '/webhooks/new', session: 'management', permission: 'webhook:create', handle: create },
    {
      method: 'GET',
      path: '/webhooks/:id',
      session: 'management',
      permission: 'webhook:read',
      handle: async (visit) => show(visit, await existing(visit), {}),
    },
    resentFormRoute({ path: '/webhooks/:id', session: 'management', permission: 'webhook:read' }),
    {
      method: 'GET',
      path: '/webhooks/:id/edit',
      session: 'management',
      permission: 'webhook:read',
      handle: async (visit) => {
        requirePermission(visit, 'webhook:update');
        const webhook = await existing(visit);
        return showForm(visit, webhook, webhook, {});
      },
    },
    { method: 'POST', path: '/webhooks/:id/edit', session: 'management', permission: 'webhook:update', handle: update },
    {
      method: 'POST',
      path: '/webhooks/:id/enabled',
      session: 'management',
      permission: 'webhook:update',
      handle: switchDelivery,
    },
    { method: 'POST', path: '/webhooks/:id/test', session: 'management', permission: 'webhook:update', handle: test },
    {
      method: 'POST',
      path: '/webhooks/:id/secret',
      session: 'management',
      permission: 'webhook:update',
      handle: rotate,
    },
    {
      method: 'POST',
      path: '/webhooks/:id/replay',
      session: 'management',
      permission: 'webhook:update',
      handle: replay,
    },
    {
      method: 'POST',
      path: '/webhooks/:id/delete',
      session: 'management',
      permission: 'webhook:delete',
      handle: remove,
    },
  ],
};

function pathOf(id: string): string {
  return `/webhooks/${encodeURIComponent(id)}`;
}

async function existing({ vault, caller, param }: Visit): Promise<WebhookDocument> {
  const found = await findWebhook(vault, caller.tenantId, param('id'));
  if (found === null) throw new Problem('webhook_not_found');
  return found;
}

async function list(visit: Visit) {
  const { vault, caller } = visit;
  const webhooks = [];
  for (const webhook of await listWebhooks(vault, caller.tenantId)) {
    const [last] = await listDeliveries(vault, webhook.id, null);
    webhooks.push({ ...shownWebhook(webhook), last: last ?? null });
  }
  const model = {
    webhooks,
    mayCreate: grantsAnywhere(caller, 'webhook:create'),
    isFull: webhooks.length >= webhooksMax,
  };
  return visit.page('webhooks/list', model, { title: 'Webhooks' });
}

/** Returns the fields that a page shows for a webhook. They do not include the webhook's secrets. */
function shownWebhook({ id, url, description, enabled, event_types, token_types, containers }: WebhookDocument) {
  return {
    id,
    path: pathOf(id),
    url,
    description,
    enabled,
    eventTypes: event_types,
    tokenTypes: token_types ?? [],
    containers: containers ?? [],
  };
}

const deliveriesQuery = z.object({
  page: pageField,
  outcome: z.enum(attemptOutcomes).optional(),
});

async function show(visit: Visit, webhook: WebhookDocument, errors: FieldErrors, fromTyped = '') {
  const { vault, caller, session } = visit;
  const { page: number, outcome = null } = visit.query(deliveriesQuery);
  const attempts = await listDeliveries(vault, webhook.id, outcome);
  const page = { page: number, size: pageSize };
  const { offset, limit } = rangeOf(page);
  const ending = webhook.secrets.flatMap(({ ends_at: endsAt }) => endsAt ?? []);
  const model = {
    ...shownWebhook(webhook),
    version: versionOf(webhook),
    createdAt: webhook.created_at,
    modifiedAt: webhook.modified_at,
    oldSecretsEndAt: ending.length === 0 ? null : Math.max(...ending),
    attempts: attempts.slice(offset, offset + limit),
    links: pageLinks(page, attempts.length),
    filter: outcome === null ? '' : `&outcome=${outcome}`,
    outcomes: [null, ...attemptOutcomes].map((one) => ({ name: one, isChosen: one === outcome })),
    overlaps,
    mayUpdate: grantsAnywhere(caller, 'webhook:update'),
    mayReplay: session.isOperator && grantsAnywhere(caller, 'webhook:update'),
    mayDelete: grantsAnywhere(caller, 'webhook:delete'),
    fromTyped,
    fromError: errorOf(errors, 'from'),
    confirmError: errorOf(errors, 'confirmation'),
  };
  const status = Object.keys(errors).length === 0 ? 200 : 400;
  // Only reads with status 200 are recorded automatically, so other reads are recorded here.
  if (status !== 200) await recordManagementRead(vault, visit.context, 'webhook', webhook.id);
  return visit.page('webhooks/show', model, { title: 'Webhook', status });
}

const emptyFields: WebhookFields = { url: 'https://', event_types: [], enabled: true };

type FormOptions = { readonly errors?: FieldErrors; readonly status?: number; readonly isConflict?: boolean };

function showForm(visit: Visit, webhook: WebhookDocument | null, fields: WebhookFields, options: FormOptions) {
  const { errors = {}, status = 200, isConflict = false } = options;
  const chosen = (known: readonly string[], given: readonly string[] | null | undefined) =>
    known.map((name) => ({ name, isChecked: given?.includes(name) ?? false }));
  const model = {
    isNew: webhook === null,
    isConflict,
    action: webhook === null ? '/webhooks/new' : `${pathOf(webhook.id)}/edit`,
    back: webhook === null ? '/webhooks' : pathOf(webhook.id),
    version: webhook === null ? '' : versionOf(webhook),
    once: webhook === null ? visit.vault.random.uuid() : '',
    url: fields.url,
    description: fields.description ?? '',
    enabled: fields.enabled ?? true,
    eventTypes: chosen(webhookEventTypes, fields.event_types),
    tokenTypes: chosen(tokenTypes, fields.token_types),
    containers: (fields.containers ?? []).join('\n'),
    hasErrors: Object.keys(errors).length > 0,
    errors: {
      url: errorOf(errors, 'url'),
      description: errorOf(errors, 'description'),
      eventTypes: eventsError(errors, fields.event_types),
      tokenTypes: errorOf(errors, 'token_types'),
      containers: errorOf(errors, 'containers'),
    },
  };
  return visit.page('webhooks/edit', model, { title: webhook === null ? 'New webhook' : 'Edit webhook', status });
}

function eventsError(errors: FieldErrors, chosen: WebhookFields['event_types']): string | null {
  const error = errorOf(errors, 'event_types');
  return error !== null && chosen.length === 0 ? 'Choose at least one event.' : error;
}

/**
 * Converts a form to a request body. If no token type is selected, the webhook covers all types. If no container is
 * entered, it covers all containers.
 */
function fieldsIn(form: TypedForm, stored?: WebhookDocument): WebhookFields {
  const types = form.values('token_types');
  return {
    url: form.text('url'),
    description: form.text('description', stored?.description),
    enabled: form.text('enabled') === 'true',
    event_types: form.values('event_types'),
    token_types: types.length === 0 ? null : types,
    containers: listOf(form.text('containers')),
  };
}

async function create(visit: Visit) {
  const fields = fieldsIn(typedForm(visit));
  const once = onceOf(visit, '/webhooks');
  const created = await createWebhookOnce(visit.vault, directoryContextOf(visit.request), fields, once);
  if (created.ok) return showSecret(visit, created.value.webhook.id, created.value.secret, true);
  if (created.errors === undefined) throw problemFrom(created);
  return showForm(visit, null, fields, { errors: created.errors, status: 400 });
}

/** Shows a new secret. The secret is shown only this once. It is null if the form was sent before. */
function showSecret(visit: Visit, id: string, secret: Secret<string> | null, isNew: boolean) {
  const title = isNew ? 'The webhook is created' : 'The secret is rotated';
  return visit.page('webhooks/secret', { path: pathOf(id), value: secret?.reveal() ?? null, isNew }, { title });
}

async function update(visit: Visit) {
  const webhook = await existing(visit);
  const form = typedForm(visit);
  const fields = fieldsIn(form, webhook);
  const showConflict = async () => showForm(visit, await existing(visit), fields, { isConflict: true, status: 409 });
  if (form.text('version') !== versionOf(webhook)) return showConflict();
  const seen = { seenChange: lastChangeOf(webhook) };
  const updated = await updateWebhook(visit.vault, directoryContextOf(visit.request), webhook.id, fields, seen);
  if (updated.ok)
    return visit.redirect(pathOf(webhook.id), { tone: 'good', text: 'Saved. It takes effect within seconds.' });
  if (updated.code === 'precondition_failed') return showConflict();
  if (updated.errors === undefined) throw problemFrom(updated);
  return showForm(visit, webhook, fields, { errors: updated.errors, status: 400 });
}

async function switchDelivery(visit: Visit) {
  const id = visit.param('id');
  const enabled = typedForm(visit).text('enabled') === 'true';
  const updated = await switchWebhook(visit.vault, directoryContextOf(visit.request), id, enabled);
  if (!updated.ok) throw problemFrom(updated);
  const text = enabled
    ? 'Deliveries continue where they stopped.'
    : 'Nothing is delivered until you enable the webhook.';
  return visit.redirect(pathOf(id), { tone: 'good', text });
}

async function test(visit: Visit) {
  const webhook = await existing(visit);
  const { outcome, status, problem, durationMs } = await sendTestEvent(visit.vault, visit.caller.tenantId, webhook);
  const said = [status === null ? [] : `status ${status}`, problem ?? []].flat().join(', ');
  return visit.redirect(pathOf(webhook.id), {
    tone: outcome === 'delivered' ? 'good' : 'bad',
    text:
      outcome === 'delivered'
        ? `The receiver accepted the test event (${said}, ${durationMs} ms). Waiting deliveries are due now.`
        : `The test event was not accepted (${said}).`,
  });
}

/**
 * Rotates the secret. If the form is sent again, for example because the person clicks twice or reloads the response,
 * the secret is not rotated again.
 */
async function rotate(visit: Visit) {
  const id = visit.param('id');
  const form = typedForm(visit);
  const overlap = overlaps.find(({ value }) => value === form.text('overlap'));
  if (overlap === undefined)
    throw new Problem('validation_failed', { errors: { overlap: ['must be one of the choices'] } });
  const rotated = await rotateWebhookSecret(visit.vault, directoryContextOf(visit.request), id, {
    overlapMs: overlap.ms,
    seenChange: Number(form.text('version')),
  });
  if (!rotated.ok && rotated.code === 'precondition_failed') {
    const text =
      'The webhook was changed since you opened the page, so its secret was not rotated. If you did not see the ' +
      'newest secret, rotate it again.';
    return visit.redirect(pathOf(id), { tone: 'bad', text });
  }
  if (!rotated.ok) throw problemFrom(rotated);
  return showSecret(visit, rotated.value.webhook.id, rotated.value.secret, false);
}

/** Redelivers events. As on the command line, only operators may do this. */
async function replay(visit: Visit) {
  if (!visit.session.isOperator) throw new ConsoleProblem('not_opened');
  const webhook = await existing(visit);
  const fromTyped = typedForm(visit).text('from');
  const from = parseTypedTime(fromTyped);
  if (from === null) {
    requirePermission(visit, 'webhook:read');
    return show(visit, webhook, { from: ['must be a date or date-time, such as 2026-01-31T12:00:00Z'] }, fromTyped);
  }
  const input = { tenantId: visit.caller.tenantId, webhookId: webhook.id, from };
  const started = await visit.operations.run('webhooks-replay', input);
  if (!started.ok) {
    requirePermission(visit, 'webhook:read');
    return show(visit, webhook, { from: [started.message] }, fromTyped);
  }
  const message = 'earlier events delivered again';
  await recordConsoleAct(visit.vault, visit.context, 'webhook', webhook.id, { operation: 'update', message });
  return visit.redirect(pathOf(webhook.id), { tone: 'good', text: 'Events since that time are being redelivered.' });
}

async function remove(visit: Visit) {
  const webhook = await existing(visit);
  if (typedForm(visit).text('confirmation').toLowerCase() !== 'delete') {
    requirePermission(visit, 'webhook:read');
    return show(visit, webhook, { confirmation: ['type the word delete to confirm'] });
  }
  const deleted = await deleteWebhook(visit.vault, directoryContextOf(visit.request), webhook.id);
  if (!deleted.ok) throw problemFrom(deleted);
  return visit.redirect('/webhooks', { tone: 'good', text: 'The webhook is deleted.' });
}
