import { applicationAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { livingApplication } from '../../vault/open-directory.js';
import { documented } from '../openapi/operation.js';
import { application, applicationExample } from '../openapi/schemas/tenancy.js';
import { Problem } from '../problem/problem.js';
import { callerOf } from '../request-state.js';
import type { IdParams, Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const operation = documented({
  id: 'getApplication',
  tag: 'Applications',
  summary: 'Get an application',
  description: 'Returns the application, without its keys.',
  pathParameters: { id: 'The id of the application.' },
  answers: { 200: { description: 'The application.', schema: application, example: applicationExample } },
  problems: ['application_not_found'],
});

/** `GET /applications/{id}` (docs/contract.md, "Applications"). */
export const getApplicationRoute: Routes = (app, { vault }) => {
  app.get<{ Params: IdParams }>(
    '/applications/:id',
    { config: { permission: 'application:read', operation } },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const application = await livingApplication(vault, tenantId, request.params.id);
      if (application === null) throw new Problem('application_not_found');
      return sendJson(reply, 200, applicationAnswer(tenantId, application));
    },
  );
};
