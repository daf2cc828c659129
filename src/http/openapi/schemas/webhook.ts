import { z } from 'zod';
import type { JsonObject } from '../../../domain/json.js';
import { webhookEventTypes } from '../../../domain/tenancy/webhook.js';
import { tokenTypes } from '../../../domain/token/types/token-type.js';
import { dateTime, uuid } from './formats.js';
import { stamps } from './tenancy.js';

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
export const webhook = z.object(fields).meta({ id: 'Webhook', description: 'A webhook, without its secrets.' });

export const webhookWithSecret = z
  .object({
    ...fields,
    secret: z.string().meta({
      description:
        'The secret that deliveries are signed with, as Standard Webhooks specifies. Only this response shows it.',
    }),
  })
  .meta({ id: 'WebhookWithSecret', description: 'A webhook with its new secret.' });

/** An attempt to deliver an event. */
export const delivery = z
  .object({
    event_id: uuid('The id of the event, which each attempt sends in the header `webhook-id`.'),
    event_type: z.string().meta({ description: 'The type of the event.' }),
    attempt: z.int().meta({ description: 'The number of the attempt, from 1.' }),
    outcome: z.enum(['delivered', 'failed', 'parked']).meta({
      description: 'The outcome of the attempt. `parked` means that it failed and was the last attempt.',
    }),
    response_status: z.int().optional().meta({ description: 'The status of the response. Absent if there was none.' }),
    problem: z.string().optional().meta({ description: 'Why the attempt failed, if the status does not explain it.' }),
    duration_ms: z.int().meta({ description: 'How long the request took, in milliseconds.' }),
    created_at: dateTime('When the attempt was sent.'),
    next_attempt_at: dateTime('When the next attempt is due. Absent if no attempt is due.').optional(),
  })
  .meta({ id: 'WebhookDelivery', description: 'An attempt to deliver an event.' });

export const webhookRequestExample: JsonObject = {
  url: 'https://shop.example/strongroom',
  event_types: ['token.deleted', 'token.expired'],
  containers: ['/pci/'],
};

export const webhookExample: JsonObject = {
  id: '3b0e8c1c-5a0a-4a54-9d4e-0c2c4f0a9b11',
  tenant_id: '1255abe4-56ce-48c5-926e-d06322349614',
  ...webhookRequestExample,
  enabled: true,
  created_by: '0a4c7a3b-6a0e-4a4f-8b6b-4d7f1f3b9c55',
  created_at: '2026-01-31T12:00:00.000+00:00',
};

export const webhookSecretExample = 'whsec_…';

export const deliveryExample: JsonObject = {
  event_id: '9f1c1c0e-7a0f-4f0b-8c55-6a0b3f5d7e21',
  event_type: 'token.deleted',
  attempt: 1,
  outcome: 'delivered',
  response_status: 204,
  duration_ms: 35,
  created_at: '2026-01-31T12:00:00.000+00:00',
};
