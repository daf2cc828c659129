import { z } from 'zod';
import { createWebhook, deleteWebhook, rotateWebhookSecret, updateWebhook } from '../../commands/tenancy/webhooks.js';
import { sendTestEvent } from '../../commands/webhooks/post-to-webhook.js';
import type { JsonObject } from '../../domain/json.js';
import { type WebhookDocument, webhookEventTypes } from '../../domain/tenancy/webhook.js';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { attemptOutcomes } from '../../ports/webhook-store.js';
import {
  deliveryAnswer,
  findWebhook,
  listDeliveries,
  listWebhooks,
  webhookAnswer,
} from '../../queries/tenancy/webhooks.js';
import type { Vault } from '../../vault/vault.js';
import { anObject, required, text } from '../body/body-fields.js';
import { documented } from '../openapi/operation.js';
import { dateTime, uuid } from '../openapi/schemas/formats.js';
import { pageExample, pageOf } from '../openapi/schemas/pagination.js';
import { stamps } from '../openapi/schemas/tenancy.js';
import { pageAnswer, pageQuery, rangeOf } from '../pagination.js';
import { Problem, problemFrom } from '../problem/problem.js';
import { callerOf, directoryContextOf } from '../request-state.js';
import type { IdParams, Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const texts = z
  .array(text, { error: required('must be an array of strings') })
  .max(100, { error: 'must contain at most 100 items' });
const webhookBody = z.object(
  {
    url: text.meta({
      description:
        'The URL that deliveries are posted to: an https:// URL on the public internet, at most 2,000 characters long.',
    }),
    description: text.nullish().meta({ description: 'A human-readable description of at most 200 characters.' }),
    enabled: z.boolean({ error: 'must be true or false' }).nullish().meta({
      description:
        'Whether events are delivered. Default: true. Once enabled again, deliveries continue where they stopped.',
    }),
    event_types: texts.meta({ description: `The events to deliver: one or more of ${webhookEventTypes.join(', ')}.` }),
    token_types: texts.nullish().meta({
      description:
        `Of the token.* events, delivers only those of tokens of these types: ${tokenTypes.join(', ')}. Default: ` +
        'all. It does not filter other events.',
    }),
    containers: texts.nullish().meta({
      description:
        'Of the token.* events, delivers only those of tokens in these containers (at most 10) or their ' +
        'sub-containers. Default: all. It does not filter other events.',
    }),
  },
  anObject,
);

const hourSeconds = 3_600;
const rotateBody = z.object(
  {
    overlap_seconds: z
      .int({ error: 'must be a whole number' })
      .min(0, { error: 'must be at least 0' })
      .max(7 * 24 * hourSeconds, { error: 'must be at most 604800' })
      .nullish()
      .meta({
        description: 'For how many seconds deliveries are also signed with the old secrets. Default: 86400 (one day).',
      }),
  },
  anObject,
);
const defaultOverlapSeconds = 24 * hourSeconds;

const deliveriesQuery = z.object({
  ...pageQuery,
  outcome: z
    .enum(attemptOutcomes, { error: `must be given once, as one of: ${attemptOutcomes.join(', ')}` })
    .optional()
    .meta({ description: 'Returns only attempts with this outcome.' }),
});

const fields = {
  id: uuid('The id of the webhook.'),
  tenant_id: uuid('The tenant of the webhook.'),
  url: z.string().meta({ description: 'The URL that deliveries are posted to.' }),
  description: z
    .string()
    .optional()
    .meta({ description: 'A human-readable description. Absent if the webhook has no description.' }),
  enabled: z.boolean().meta({ description: 'Whether events are delivered.' }),
  event_types: z.array(z.enum(webhookEventTypes)).meta({ description: 'The events that are delivered.' }),
  token_types: z.array(z.enum(tokenTypes)).optional().meta({
    description:
      'Of the token.* events, delivers only those of tokens of these types. Absent if all types are delivered.',
  }),
  containers: z
    .array(z.string())
    .optional()
    .meta({
      description:
        'Of the token.* events, delivers only those of tokens in these containers or their sub-containers. Absent if ' +
        'the events of tokens in all containers are delivered.',
    }),
  old_secrets_end_at: dateTime(
    'The time until which deliveries are also signed with older secrets. Absent if there is only one secret.',
  ).optional(),
  ...stamps,
};

/** A webhook, without its secrets (docs/contract.md, "Webhooks"). */
const webhook = z.object(fields).meta({ id: 'Webhook', description: 'A webhook, without its secrets.' });

const webhookWithSecret = z
  .object({
    ...fields,
    secret: z.string().meta({
      description:
        'The secret that deliveries are signed with, as Standard Webhooks specifies. Only this response shows it.',
    }),
  })
  .meta({ id: 'WebhookWithSecret', description: 'A webhook with its new secret.' });

/** An attempt to deliver an event. */
const delivery = z
  .object({
    event_id: uuid('The id of the event, which each attempt sends in the header `webhook-id`.'),
    event_type: z.string().meta({ description: 'The type of the event.' }),
    attempt: z.int().meta({ description: 'The number of the attempt, from 1.' }),
    outcome: z.enum(attemptOutcomes).meta({
      description: 'The outcome of the attempt. `parked` means that it failed and was the last attempt.',
    }),
    response_status: z.int().optional().meta({ description: 'The status of the response. Absent if there was none.' }),
    problem: z.string().optional().meta({ description: 'Why the attempt failed, if the status does not explain it.' }),
    duration_ms: z.int().meta({ description: 'How long the request took, in milliseconds.' }),
    created_at: dateTime('When the attempt was sent.'),
    next_attempt_at: dateTime('When the next attempt is due. Absent if no attempt is due.').optional(),
  })
  .meta({ id: 'WebhookDelivery', description: 'An attempt to deliver an event.' });

const webhookRequestExample: JsonObject = {
  url: 'https://shop.example/strongroom',
  event_types: ['token.deleted', 'token.expired'],
  containers: ['/pci/'],
};

const webhookExample: JsonObject = {
  id: '3b0e8c1c-5a0a-4a54-9d4e-0c2c4f0a9b11',
  tenant_id: '1255abe4-56ce-48c5-926e-d06322349614',
  ...webhookRequestExample,
  enabled: true,
  created_by: '0a4c7a3b-6a0e-4a4f-8b6b-4d7f1f3b9c55',
  created_at: '2026-01-31T12:00:00.000+00:00',
};

const webhookSecretExample = 'whsec_…';

const deliveryExample: JsonObject = {
  event_id: '9f1c1c0e-7a0f-4f0b-8c55-6a0b3f5d7e21',
  event_type: 'token.deleted',
  attempt: 1,
  outcome: 'delivered',
  response_status: 204,
  duration_ms: 35,
  created_at: '2026-01-31T12:00:00.000+00:00',
};

const pathParameters = { id: 'The id of the webhook.' };

const create = documented({
  id: 'createWebhook',
  tag: 'Webhooks',
  summary: 'Create a webhook',
  description:
    'Creates a webhook, which receives every matching event from then on. Only this response shows its secret. A ' +
    'tenant can have at most ten webhooks.',
  requestExample: webhookRequestExample,
  answers: {
    201: {
      description: 'The webhook with its secret.',
      headers: ['Location'],
      schema: webhookWithSecret,
      example: { ...webhookExample, secret: webhookSecretExample },
    },
  },
  problems: ['validation_failed', 'too_many_webhooks'],
});

const list = documented({
  id: 'listWebhooks',
  tag: 'Webhooks',
  summary: 'List webhooks',
  description: 'Returns the tenant’s webhooks, newest first, without their secrets.',
  answers: {
    200: { description: 'A page of webhooks.', schema: pageOf(webhook), example: pageExample(webhookExample) },
  },
  problems: ['validation_failed'],
});

const get = documented({
  id: 'getWebhook',
  tag: 'Webhooks',
  summary: 'Get a webhook',
  description: 'Returns a webhook without its secrets.',
  pathParameters,
  answers: { 200: { description: 'The webhook.', schema: webhook, example: webhookExample } },
  problems: ['webhook_not_found'],
});

const update = documented({
  id: 'updateWebhook',
  tag: 'Webhooks',
  summary: 'Update a webhook',
  description: 'Replaces all fields of a webhook except its secrets. A change takes effect within seconds.',
  pathParameters,
  requestExample: webhookRequestExample,
  answers: { 200: { description: 'The webhook.', schema: webhook, example: webhookExample } },
  problems: ['validation_failed', 'webhook_not_found'],
});

const remove = documented({
  id: 'deleteWebhook',
  tag: 'Webhooks',
  summary: 'Delete a webhook',
  description: 'Deletes a webhook and drops its pending deliveries. A delivery that is in progress may still arrive.',
  pathParameters,
  answers: { 204: { description: 'The webhook is deleted.' } },
  problems: ['webhook_not_found'],
});

const rotate = documented({
  id: 'rotateWebhookSecret',
  tag: 'Webhooks',
  summary: 'Rotate the secret of a webhook',
  description:
    'Creates a new secret, which only this response shows. Until the overlap ends, each delivery is also signed ' +
    'with the old secrets. At most three secrets sign each delivery.',
  pathParameters,
  requestExample: { overlap_seconds: 86_400 },
  answers: {
    200: {
      description: 'The webhook with its new secret.',
      schema: webhookWithSecret,
      example: { ...webhookExample, secret: webhookSecretExample },
    },
  },
  problems: ['validation_failed', 'webhook_not_found'],
});

const test = documented({
  id: 'testWebhook',
  tag: 'Webhooks',
  summary: 'Send a test delivery',
  description:
    'Sends an event of the type `webhook.test` and returns the outcome. If it is delivered, all deliveries that ' +
    'are waiting for their next attempt become due immediately. While 10 tests of the tenant are waiting for a ' +
    'response, further tests fail.',
  pathParameters,
  answers: { 200: { description: 'The attempt.', schema: delivery, example: deliveryExample } },
  problems: ['webhook_not_found'],
});

const deliveries = documented({
  id: 'listWebhookDeliveries',
  tag: 'Webhooks',
  summary: 'List delivery attempts',
  description:
    'Returns the last 100 attempts and the last 200 deliveries that were abandoned (parked), newest first. Test ' +
    'deliveries are not listed.',
  pathParameters,
  answers: {
    200: { description: 'A page of attempts.', schema: pageOf(delivery), example: pageExample(deliveryExample) },
  },
  problems: ['validation_failed', 'webhook_not_found'],
});

/** `/webhooks` (docs/contract.md, "Webhooks"). */
export const webhookRoutes: Routes = (app, { vault }) => {
  app.post(
    '/webhooks',
    {
      schema: { body: webhookBody },
      config: { permission: 'webhook:create', mediaType: 'application/json', operation: create },
    },
    async (request, reply) => {
      const context = directoryContextOf(request);
      const result = await createWebhook(vault, context, request.body);
      if (!result.ok) throw problemFrom(result);
      const { webhook: created, secret } = result.value;
      reply.header('location', `/webhooks/${created.id}`);
      return sendJson(reply, 201, { ...webhookAnswer(context.tenantId, created), secret: secret.reveal() });
    },
  );
  app.get(
    '/webhooks',
    { schema: { querystring: z.object(pageQuery) }, config: { permission: 'webhook:read', operation: list } },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const all = await listWebhooks(vault, tenantId);
      const { offset, limit } = rangeOf(request.query);
      const data = all.slice(offset, offset + limit).map((one) => webhookAnswer(tenantId, one));
      return sendJson(reply, 200, pageAnswer(request.query, all.length, data));
    },
  );
  app.get<{ Params: IdParams }>(
    '/webhooks/:id',
    { config: { permission: 'webhook:read', operation: get } },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      return sendJson(reply, 200, webhookAnswer(tenantId, await existing(vault, tenantId, request.params.id)));
    },
  );
  app.put<{ Params: IdParams; Body: z.output<typeof webhookBody> }>(
    '/webhooks/:id',
    {
      schema: { body: webhookBody },
      config: { permission: 'webhook:update', mediaType: 'application/json', operation: update },
    },
    async (request, reply) => {
      const context = directoryContextOf(request);
      const result = await updateWebhook(vault, context, request.params.id, request.body);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, webhookAnswer(context.tenantId, result.value));
    },
  );
  app.delete<{ Params: IdParams }>(
    '/webhooks/:id',
    { config: { permission: 'webhook:delete', operation: remove } },
    async (request, reply) => {
      const result = await deleteWebhook(vault, directoryContextOf(request), request.params.id);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
  app.post<{ Params: IdParams; Body: z.output<typeof rotateBody> }>(
    '/webhooks/:id/secret',
    {
      schema: { body: rotateBody },
      config: { permission: 'webhook:update', mediaType: 'application/json', operation: rotate },
      // The body may be absent, because its only field has a default.
      preValidation: async (request) => {
        request.body ??= {};
      },
    },
    async (request, reply) => {
      const context = directoryContextOf(request);
      const overlapMs = (request.body.overlap_seconds ?? defaultOverlapSeconds) * 1_000;
      const result = await rotateWebhookSecret(vault, context, request.params.id, { overlapMs });
      if (!result.ok) throw problemFrom(result);
      const { webhook: rotated, secret } = result.value;
      return sendJson(reply, 200, { ...webhookAnswer(context.tenantId, rotated), secret: secret.reveal() });
    },
  );
  app.post<{ Params: IdParams }>(
    '/webhooks/:id/test',
    { config: { permission: 'webhook:update', operation: test } },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const found = await existing(vault, tenantId, request.params.id);
      return sendJson(reply, 200, deliveryAnswer(await sendTestEvent(vault, tenantId, found)));
    },
  );
  app.get<{ Params: IdParams; Querystring: z.output<typeof deliveriesQuery> }>(
    '/webhooks/:id/deliveries',
    { schema: { querystring: deliveriesQuery }, config: { permission: 'webhook:read', operation: deliveries } },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const { id } = await existing(vault, tenantId, request.params.id);
      const { outcome = null, ...page } = request.query;
      const attempts = await listDeliveries(vault, id, outcome);
      const { offset, limit } = rangeOf(page);
      const data = attempts.slice(offset, offset + limit).map(deliveryAnswer);
      return sendJson(reply, 200, pageAnswer(page, attempts.length, data));
    },
  );
};

async function existing(
  vault: Pick<Vault, 'directory' | 'keys'>,
  tenantId: string,
  id: string,
): Promise<WebhookDocument> {
  const found = await findWebhook(vault, tenantId, id);
  if (found === null) throw new Problem('webhook_not_found');
  return found;
}
