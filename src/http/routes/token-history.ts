import { z } from 'zod';
import { historyTypes, tokenHistory } from '../../queries/token-history.js';
import { documented } from '../openapi/operation.js';
import { dateTime, wholeNumber } from '../openapi/schemas/formats.js';
import { pageExample, pageOf } from '../openapi/schemas/pagination.js';
import { pageAnswer, pageQuery, rangeOf } from '../pagination.js';
import { problemFrom } from '../problem/problem.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

/** An event in the history of a token. It contains no values (docs/contract.md, "Token history"). */
const historyEntry = z
  .object({
    type: z.enum(historyTypes).meta({ description: 'What happened to the token.' }),
    revision: wholeNumber('The revision of the token after the event.'),
    actor_id: z.string().meta({ description: 'The id of an application, or `system` if no request caused the event.' }),
    trace_id: z
      .string()
      .optional()
      .meta({ description: 'The trace id of the request. Absent if no request caused the event.' }),
    person: z
      .string()
      .optional()
      .meta({
        description:
          'The person who made the request, as stated by the console or the application. Present only for callers ' +
          'with `log:read`.',
      }),
    person_issuer: z.string().optional().meta({
      description: 'The identity provider that stated the name. Absent if the person or the application stated it.',
    }),
    created_at: dateTime('When it happened.'),
    changed: z.array(z.string()).meta({ description: 'The names of the fields that changed. Never their values.' }),
    life: wholeNumber(
      'The number of the life of the id that the event belongs to, starting at 1. Present only for callers with ' +
        '`log:read`.',
      1,
    ).optional(),
  })
  .meta({ id: 'HistoryEntry', description: 'An event of a token, without values.' });

const operation = documented({
  id: 'tokenHistory',
  tag: 'Tokens',
  summary: 'Get the history of a token',
  description:
    'Returns the events of the token, newest first and without values, even after the token was deleted. With ' +
    '`log:read`, it covers all lives of the id. Otherwise, it covers the current life or, after a deletion, the last ' +
    'life if the caller has `token:read` on `/`.',
  pathParameters: { id: 'The id of the token, percent-encoded.' },
  answers: {
    200: {
      description: 'A page of events.',
      schema: pageOf(historyEntry),
      example: pageExample({
        type: 'token.updated',
        revision: 1,
        actor_id: '5dc3f473-b758-4380-b444-1bb2b9affc6a',
        trace_id: 'order-17',
        created_at: '2026-01-31T12:00:00.000+00:00',
        changed: ['metadata'],
      }),
    },
  },
  problems: ['validation_failed', 'forbidden', 'token_not_found'],
});

/** `GET /tokens/{id}/history` (docs/contract.md, "Token history"). */
export const tokenHistoryRoute: Routes = (app, { vault }) => {
  app.get(
    '/tokens/:id/history',
    {
      schema: { params: z.object({ id: z.string() }), querystring: z.object(pageQuery) },
      config: { permission: ['log:read', 'token:read'], shows: 'token', operation },
    },
    async (request, reply) => {
      const { params, query } = request;
      const result = await tokenHistory(vault, contextOf(request), params.id, rangeOf(query));
      if (!result.ok) throw problemFrom(result);
      const { entries, total } = result.value;
      return sendJson(reply, 200, pageAnswer(query, total, entries));
    },
  );
};
