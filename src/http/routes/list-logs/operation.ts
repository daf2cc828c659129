import { z } from 'zod';
import { documented } from '../../openapi/operation.js';

const text = z.string();

const entry = z.object({
  tenant_id: text,
  actor_id: text.meta({ description: 'An application id, `operator` (the command line) or `system`.' }),
  actor_type: z.enum(['application', 'operator', 'system']),
  key_id: text.optional().meta({ description: 'The API key that was used.' }),
  source_address: text.optional().meta({ description: 'Where the request came from; absent for the command line.' }),
  entity_type: text.meta({ description: 'token, application, key, tenant, report, log or service.' }),
  entity_id: text
    .optional()
    .meta({ description: 'Of a token: while it lives, and where it was asked for by that id.' }),
  entity_ref: text.optional().meta({ description: 'A keyed hash of the id.' }),
  operation: text.meta({
    description: 'create, read, reveal, update, delete, expiry, purge, start, stop, rotation or loss.',
  }),
  outcome: z.enum(['success', 'denied', 'failed']),
  message: text,
  trace_id: text.optional(),
  created_at: text,
});

const count = z.number().int();
const page = z.object({
  pagination: z.object({ total_items: count, page_number: count, page_size: count, total_pages: count }),
  data: z.array(entry),
});

export const listLogsOperation = documented({
  id: 'listLogs',
  tag: 'Logs',
  summary: 'Read the access log',
  description:
    'Who did what, newest first, and never with which data. Without `start_date` the last 24 hours; entries at ' +
    '`start_date` are in, those at `end_date` are not. Visible within a second, kept for 13 months.',
  answers: {
    200: {
      description: 'A page of entries.',
      schema: page,
      example: {
        pagination: { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 },
        data: [
          {
            tenant_id: '0c8b1f6e-9a53-4a5e-8f0b-0f0f9a6f2b11',
            actor_id: '5f3c2f6a-52f4-4c8e-9b43-1f1a7c0f3a77',
            actor_type: 'application',
            key_id: '8d1f3f0e-6b0b-4d07-8a2f-3b6f5f0c9e21',
            source_address: '192.0.2.10',
            entity_type: 'token',
            entity_id: 'customer-4711',
            entity_ref: 'b7c0f0f4a1f3d2c4e5b6978812ab34cd56ef78901a2b3c4d5e6f708192a3b4c5',
            operation: 'reveal',
            outcome: 'success',
            message: 'token shown in clear',
            trace_id: 'checkout-81',
            created_at: '2026-01-31T12:00:00.000+00:00',
          },
        ],
      },
    },
  },
});
