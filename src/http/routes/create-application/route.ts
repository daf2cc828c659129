import { createApplication } from '../../../commands/directory/create-application.js';
import { applicationAnswer } from '../../../commands/directory/directory-answers.js';
import { parseApplication } from '../../../domain/directory/parse-application.js';
import { createApplicationBody } from '../../directory-body.js';
import { directoryContextOf } from '../../directory-context.js';
import { problemFrom } from '../../error-handler.js';
import { idempotencyOf } from '../../idempotency.js';
import { Problem } from '../../problem.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { createApplicationOperation as operation } from './operation.js';

/** `POST /applications` (contract, section 10): the key is shown in this answer and never again. */
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
      if (!spec.ok) throw new Problem('validation_failed', spec.errors);
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
