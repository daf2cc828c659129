import { z } from 'zod';
import { listKeys } from '../../queries/tenancy/list-keys.js';
import { listedKeyAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { problemFrom } from '../error-handler.js';
import { documented } from '../openapi/operation.js';
import { apiKey, apiKeyExample } from '../openapi/schemas/tenancy.js';
import { callerOf } from '../request-state.js';
import type { IdParams, Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const operation = documented({
  id: 'listKeys',
  tag: 'Applications',
  summary: 'List the keys of an application',
  description: 'Returns the live keys of the application, without the keys themselves.',
  pathParameters: { id: 'The id of the application.' },
  answers: {
    200: {
      description: 'The keys.',
      schema: z.array(apiKey),
      example: [{ ...apiKeyExample, last_used_at: '2026-02-01T08:15:00.000+00:00' }],
    },
  },
  problems: ['application_not_found'],
});

/** `GET /applications/{id}/keys` (docs/contract.md, "API keys"). The list never contains the keys themselves. */
export const listKeysRoute: Routes = (app, { vault }) => {
  app.get<{ Params: IdParams }>(
    '/applications/:id/keys',
    { config: { permission: 'application:read', operation } },
    async (request, reply) => {
      const result = await listKeys(vault, callerOf(request).tenantId, request.params.id);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, result.value.map(listedKeyAnswer));
    },
  );
};
