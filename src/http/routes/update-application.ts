import { z } from 'zod';
import { updateApplication } from '../../commands/tenancy/applications.js';
import { applicationAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { directoryContextOf } from '../directory-context.js';
import { problemFrom } from '../error-handler.js';
import { documented } from '../openapi/operation.js';
import { application, applicationExample, applicationRequestExample } from '../openapi/schemas/tenancy.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';
import { updateApplicationBody } from '../tenancy-body.js';

const operation = documented({
  id: 'updateApplication',
  tag: 'Applications',
  summary: 'Update an application',
  description:
    'Changes the name, the permissions or rules, and the expiry. The change takes effect for all of the ' +
    'application’s keys before the response is sent.',
  pathParameters: { id: 'The id of the application.' },
  requestExample: applicationRequestExample,
  answers: { 200: { description: 'The updated application.', schema: application, example: applicationExample } },
  problems: ['validation_failed', 'exceeds_own_permissions', 'application_not_found', 'last_administrator'],
});

/**
 * `PUT /applications/{id}` (docs/contract.md, "Applications"). The change takes effect for all keys of the application
 * before the response is sent.
 */
export const updateApplicationRoute: Routes = (app, { vault }) => {
  app.put(
    '/applications/:id',
    {
      schema: { params: z.object({ id: z.string() }), body: updateApplicationBody },
      config: { permission: 'application:update', mediaType: 'application/json', operation },
    },
    async (request, reply) => {
      const context = directoryContextOf(request);
      const result = await updateApplication(vault, context, request.params.id, request.body);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, applicationAnswer(context.tenantId, result.value));
    },
  );
};
