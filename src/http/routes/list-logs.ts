import { z } from 'zod';
import { accessEntities, accessOperations } from '../../audit/access-log/operation.js';
import { parseBound } from '../../domain/time.js';
import { type LogFilter, logEntryAnswer, readLog } from '../../queries/read-log.js';
import { documented } from '../openapi/operation.js';
import { dateTime, uuid } from '../openapi/schemas/formats.js';
import { pageOf } from '../openapi/schemas/pagination.js';
import { pageAnswer, pageQuery, rangeOf } from '../pagination.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const text = z.string({ error: 'must be given once' }).optional();

/**
 * Accepts only words that occur in access log entries. If a misspelled word led to an empty page instead of an error,
 * the client would conclude that nothing had happened.
 */
function oneOf<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, { error: `must be given once, as one of: ${words.join(', ')}` }).optional();
}

/** Accepts a time in any of the formats in docs/contract.md, "Expiry formats". */
const time = z
  .string({ error: 'must be given once' })
  .transform((given, context) => {
    const ms = timeOf(given);
    if (ms === null)
      context.addIssue({ code: 'custom', message: 'must be a date or date-time, such as 2026-01-31T12:00:00Z' });
    return ms;
  })
  .optional();

/** The query string of `GET /logs`. Unknown parameters are ignored. */
const logQuery = z.object({
  ...pageQuery,
  entity_type: oneOf(accessEntities).meta({ description: 'Returns only entries about this kind of entity.' }),
  entity_id: text.meta({ description: 'Returns only entries about the entity with this id.' }),
  operation: oneOf(accessOperations).meta({ description: 'Returns only entries for this operation.' }),
  start_date: time.meta({
    description: 'Returns only entries at or after this date or date-time. Default: 24 hours ago.',
  }),
  end_date: time.meta({ description: 'Returns only entries before this date or date-time. Default: no limit.' }),
});

function logFilterOf(query: z.output<typeof logQuery>): LogFilter {
  return {
    entityType: query.entity_type ?? null,
    entityId: query.entity_id ?? null,
    operation: query.operation ?? null,
    from: query.start_date ?? null,
    to: query.end_date ?? null,
  };
}

/**
 * Parses a time. Our own timestamps contain a plus sign. If a client does not percent-encode the plus sign, it arrives
 * as a space.
 */
function timeOf(given: string): number | null {
  return parseBound(given) ?? parseBound(given.replace(/ (\d{2}:?\d{2})$/, '+$1'));
}

const entry = z
  .object({
    tenant_id: uuid('The tenant of the entry.'),
    actor_id: z.string().meta({
      description:
        'Who performed the operation: the id of an application, `operator` (the command line, or an operator in the ' +
        'console) or `system`.',
    }),
    actor_type: z.enum(['application', 'operator', 'system']).meta({ description: 'The kind of actor.' }),
    key_id: z
      .string()
      .optional()
      .meta({ description: 'The id of the API key that was used. Absent if no key was used.' }),
    source_address: z.string().optional().meta({
      description: 'The address that the request came from. Absent if no request caused the entry.',
    }),
    entity_type: z.string().meta({
      description: 'The kind of entity: token, application, key, tenant, report, log, service or webhook.',
    }),
    entity_id: z
      .string()
      .optional()
      .meta({
        description:
          'The id of the entity. The id of a token is present only while the token is live, and in responses that ' +
          'are filtered by that id.',
      }),
    entity_ref: z.string().optional().meta({ description: 'A keyed hash of the id. Absent if there is no id.' }),
    operation: z.string().meta({
      description:
        'The operation: create, read, reveal, update, delete, expiry, purge, start, stop, rotation, sign_in, ' +
        'sign_out or loss.',
    }),
    outcome: z.enum(['success', 'denied', 'failed']).meta({ description: 'The outcome of the operation.' }),
    message: z.string().meta({ description: 'A human-readable message. It never contains data.' }),
    trace_id: z
      .string()
      .optional()
      .meta({ description: 'The trace id of the request. Absent if no request caused the entry.' }),
    person: z.string().optional().meta({
      description:
        'The person who made the request, as stated by the console or the application. Absent if no person was stated.',
    }),
    person_issuer: z.string().optional().meta({
      description: 'The identity provider that stated the name. Absent if the person or the application stated it.',
    }),
    reason: z.string().optional().meta({ description: 'The reason for the request. Absent if no reason was given.' }),
    created_at: dateTime('When the operation was performed.'),
  })
  .meta({ id: 'LogEntry', description: 'An entry of the access log.' });

const listLogsOperation = documented({
  id: 'listLogs',
  tag: 'Logs',
  summary: 'Read the access log',
  description:
    'Returns who did what, newest first, but never the data. Without `start_date`, it covers the last 24 hours. ' +
    'Entries at `start_date` are included, and entries at `end_date` are not. Entries become visible within one ' +
    'second and are kept for 13 months.',
  answers: {
    200: {
      description: 'A page of entries.',
      schema: pageOf(entry),
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
            message: 'token shown in plaintext',
            trace_id: 'checkout-81',
            person: 'Jane Doe',
            reason: 'Chargeback 81',
            created_at: '2026-01-31T12:00:00.000+00:00',
          },
        ],
      },
    },
  },
});

/** `GET /logs` (docs/contract.md, "Access log"). The entries never contain the data of tokens. */
export const listLogsRoute: Routes = (app, { vault }) => {
  app.get(
    '/logs',
    { schema: { querystring: logQuery }, config: { permission: 'log:read', operation: listLogsOperation } },
    async (request, reply) => {
      const context = contextOf(request);
      const { total, entries } = await readLog(vault, context, logFilterOf(request.query), rangeOf(request.query));
      return sendJson(reply, 200, pageAnswer(request.query, total, entries.map(logEntryAnswer)));
    },
  );
};
