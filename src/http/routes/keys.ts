import { z } from 'zod';
import { issueKey, revokeKey } from '../../commands/tenancy/api-keys.js';
import { listKeys } from '../../queries/tenancy/list-keys.js';
import { keyAnswer, listedKeyAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { idempotencyOf } from '../idempotency.js';
import { documented } from '../openapi/operation.js';
import { apiKey, apiKeyExample, issuedApiKey, keyExample } from '../openapi/schemas/tenancy.js';
import { problemFrom } from '../problem/problem.js';
import { callerOf, directoryContextOf } from '../request-state.js';
import type { IdParams, Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const pathParameters = { id: 'The id of the application.' };

const issue = documented({
  id: 'issueKey',
  tag: 'Applications',
  summary: 'Issue a key',
  description:
    'Issues another key for an application. Only this response shows the key. An application can have at most ' +
    'three live keys.',
  pathParameters,
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

const list = documented({
  id: 'listKeys',
  tag: 'Applications',
  summary: 'List the keys of an application',
  description: 'Returns the live keys of the application, without the keys themselves.',
  pathParameters,
  answers: {
    200: {
      description: 'The keys.',
      schema: z.array(apiKey),
      example: [{ ...apiKeyExample, last_used_at: '2026-02-01T08:15:00.000+00:00' }],
    },
  },
  problems: ['application_not_found'],
});

const revoke = documented({
  id: 'revokeKey',
  tag: 'Applications',
  summary: 'Revoke a key',
  description: 'Revokes the key. It stops working immediately.',
  pathParameters: { ...pathParameters, key_id: 'The id of the key, not the key itself.' },
  answers: { 204: { description: 'The key no longer works.' } },
  problems: ['exceeds_own_permissions', 'application_not_found', 'application_key_not_found', 'last_administrator'],
});

/** `/applications/{id}/keys` (docs/contract.md, "API keys"). Only the response that issues a key contains it. */
export const keyRoutes: Routes = (app, { vault }, headerNames) => {
  app.post<{ Params: IdParams }>(
    '/applications/:id/keys',
    { config: { permission: 'application:create', operation: issue } },
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
  app.get<{ Params: IdParams }>(
    '/applications/:id/keys',
    { config: { permission: 'application:read', operation: list } },
    async (request, reply) => {
      const result = await listKeys(vault, callerOf(request).tenantId, request.params.id);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, result.value.map(listedKeyAnswer));
    },
  );
  app.delete<{ Params: IdParams & { readonly key_id: string } }>(
    '/applications/:id/keys/:key_id',
    { config: { permission: 'application:delete', operation: revoke } },
    async (request, reply) => {
      const { id, key_id: keyId } = request.params;
      const result = await revokeKey(vault, directoryContextOf(request), id, keyId);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};
