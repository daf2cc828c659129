import { createApplication } from '../../commands/tenancy/applications.js';
import { parseApplication } from '../../domain/tenancy/parse-directory.js';
import { applicationAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { directoryContextOf } from '../directory-context.js';
import { problemFrom } from '../error-handler.js';
import { idempotencyOf } from '../idempotency.js';
import { documented } from '../openapi/operation.js';
import {
  applicationExample,
  applicationRequestExample,
  applicationWithKey,
  keyExample,
} from '../openapi/schemas/tenancy.js';
import { Problem } from '../problem/problem.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';
import { createApplicationBody } from '../tenancy-body.js';

const operation = documented({
  id: 'createApplication',
  tag: 'Applications',
  summary: 'Create an application',
  description:
    'Creates an application and its first key, which only this response shows. To create a management ' +
    'application, the caller must itself hold every permission that the new application gets.',
  requestHeaders: ['SERVICE-IDEMPOTENCY-KEY'],
  requestExample: applicationRequestExample,
  answers: {
    201: {
      description: 'The application with its key. A retry with the same idempotency key does not show the key.',
      headers: ['Location'],
      schema: applicationWithKey,
      example: { ...applicationExample, key: keyExample },
    },
  },
  problems: ['validation_failed', 'exceeds_own_permissions', 'idempotency_in_flight', 'idempotent_result_gone'],
});

/** `POST /applications` (docs/contract.md, "Applications"). Only this response contains the key. */
export const createApplicationRoute: Routes = (app, { vault }, headerNames) => {
  app.post(
    '/applications',
    {
      schema: { body: createApplicationBody },
      config: { permission: 'application:create', mediaType: 'application/json', operation },
    },
    async (request, reply) => {
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, '/applications');
      const spec = parseApplication(request.body, vault.clock.now());
      if (!spec.ok) throw new Problem('validation_failed', { errors: spec.errors });
      const context = directoryContextOf(request);
      const result = await createApplication(vault, context, spec.value, idempotency);
      if (!result.ok) throw problemFrom(result);
      const { id, key } = result.value;
      reply.header('location', `/applications/${id}`);
      const shown = key === null ? {} : { key: key.reveal() };
      return sendJson(reply, 201, { ...applicationAnswer(context.tenantId, result.value), ...shown });
    },
  );
};
