import { issueKey } from '../../commands/tenancy/api-keys.js';
import { keyAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { directoryContextOf } from '../directory-context.js';
import { problemFrom } from '../error-handler.js';
import { idempotencyOf } from '../idempotency.js';
import { documented } from '../openapi/operation.js';
import { apiKeyExample, issuedApiKey, keyExample } from '../openapi/schemas/tenancy.js';
import type { IdParams, Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const operation = documented({
  id: 'issueKey',
  tag: 'Applications',
  summary: 'Issue a key',
  description:
    'Issues another key for an application. Only this response shows the key. An application can have at most ' +
    'three live keys.',
  pathParameters: { id: 'The id of the application.' },
  requestHeaders: ['SERVICE-IDEMPOTENCY-KEY'],
  answers: {
    201: {
      description: 'The key. A retry with the same idempotency key does not show it.',
      headers: ['Location'],
      schema: issuedApiKey,
      example: { ...apiKeyExample, key: keyExample },
    },
  },
  problems: [
    'validation_failed',
    'exceeds_own_permissions',
    'application_not_found',
    'too_many_keys',
    'idempotency_in_flight',
    'idempotent_result_gone',
  ],
});

/** `POST /applications/{id}/keys` (docs/contract.md, "API keys"). Only this response contains the key. */
export const issueKeyRoute: Routes = (app, { vault }, headerNames) => {
  app.post<{ Params: IdParams }>(
    '/applications/:id/keys',
    { config: { permission: 'application:create', operation } },
    async (request, reply) => {
      const { id } = request.params;
      const path = `/applications/${id}/keys`;
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, path);
      const result = await issueKey(vault, directoryContextOf(request), id, idempotency);
      if (!result.ok) throw problemFrom(result);
      const { key, shown } = result.value;
      reply.header('location', `${path}/${key.id}`);
      return sendJson(reply, 201, { ...keyAnswer(key), ...(shown === null ? {} : { key: shown.reveal() }) });
    },
  );
};
