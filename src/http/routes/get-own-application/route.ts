import { applicationAnswer } from '../../../commands/directory/directory-answers.js';
import { livingApplication } from '../../../commands/directory/living-application.js';
import { Problem } from '../../problem.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { getOwnApplicationOperation as operation } from './operation.js';

/** `GET /applications/key` (contract, section 10): the application whose key came with the request. */
export const getOwnApplicationRoute: Routes = (app, { vault }) => {
  app.get('/applications/key', { config: { permission: 'any_key', operation } }, async (request, reply) => {
    const { tenantId, applicationId } = callerOf(request);
    const application = await livingApplication(vault, tenantId, applicationId);
    // It was there a moment ago: deleted since.
    if (application === null) throw new Problem('unauthenticated');
    return sendJson(reply, 200, applicationAnswer(tenantId, application));
  });
};
