import { z } from 'zod';
import { applicationAnswer } from '../../../commands/directory/directory-answers.js';
import { listApplications } from '../../../commands/directory/list-applications.js';
import { pageAnswer, pageQuery, rangeOf } from '../../pagination.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { listApplicationsOperation as operation } from './operation.js';

/** One value or several of a query parameter; absent: no filter. */
const values = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (typeof given === 'string' ? [given] : given))
  .optional();
const querystring = z.object({
  ...pageQuery,
  id: values.meta({ description: 'Repeated: applications with any of these ids.' }),
  type: values.meta({ description: 'Repeated: applications of any of these types.' }),
});

/** `GET /applications` (contract, section 10): `id` and `type` are ANDed, repeats of one are ORed. */
export const listApplicationsRoute: Routes = (app, { vault }) => {
  app.get(
    '/applications',
    { schema: { querystring }, config: { permission: 'application:read', operation } },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const { id, type, ...page } = request.query;
      const filter = { ids: id ?? null, types: type ?? null };
      const { applications, total } = await listApplications(vault, tenantId, filter, rangeOf(page));
      const data = applications.map((application) => applicationAnswer(tenantId, application));
      return sendJson(reply, 200, pageAnswer(page, total, data));
    },
  );
};
