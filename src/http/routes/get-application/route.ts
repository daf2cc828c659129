import { applicationAnswer } from '../../../commands/directory/directory-answers.js';
import { livingApplication } from '../../../commands/directory/living-application.js';
import { Problem } from '../../problem.js';
import { callerOf } from '../../request-state.js';
import type { ApplicationParams, Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { getApplicationOperation as operation } from './operation.js';

/** `GET /applications/{id}` (contract, section 10). */
export const getApplicationRoute: Routes = (app, { vault }) => {
  app.get<{ Params: ApplicationParams }>(
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
