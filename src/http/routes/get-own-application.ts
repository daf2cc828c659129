import { applicationAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { livingApplication } from '../../vault/open-directory.js';
import { documented } from '../openapi/operation.js';
import { application, applicationExample } from '../openapi/schemas/tenancy.js';
import { Problem } from '../problem/problem.js';
import { callerOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const operation = documented({
  id: 'getOwnApplication',
  tag: 'Applications',
  summary: 'Get the calling application',
  description: 'Returns the application that the request’s API key belongs to.',
  answers: { 200: { description: 'The application.', schema: application, example: applicationExample } },
});

/**
 * `GET /applications/key` returns the application that the request's API key belongs to (docs/contract.md,
 * "Applications").
 */
export const getOwnApplicationRoute: Routes = (app, { vault }) => {
  app.get('/applications/key', { config: { permission: 'any_key', operation } }, async (request, reply) => {
    const { tenantId, applicationId } = callerOf(request);
    const application = await livingApplication(vault, tenantId, applicationId);
    // Authentication has found the application, so another request must have deleted it since then.
    if (application === null) throw new Problem('unauthenticated');
    return sendJson(reply, 200, applicationAnswer(tenantId, application));
  });
};
