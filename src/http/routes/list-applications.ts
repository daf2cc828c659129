import { z } from 'zod';
import { applicationAnswer } from '../../queries/tenancy/directory-answers.js';
import { listApplications } from '../../queries/tenancy/list-applications.js';
import { documented } from '../openapi/operation.js';
import { application, applicationExample } from '../openapi/schemas/directory.js';
import { pageExample, pageOf } from '../openapi/schemas/pagination.js';
import { pageAnswer, pageQuery, rangeOf } from '../pagination.js';
import { callerOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const operation = documented({
  id: 'listApplications',
  tag: 'Applications',
  summary: 'List applications',
  description: 'The applications of the tenant, newest first.',
  answers: {
    200: {
      description: 'A page of applications.',
      schema: pageOf(application),
      example: pageExample(applicationExample),
    },
  },
  problems: ['validation_failed'],
});

/** A query parameter with one or several values. Without it, there is no filter. */
const values = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (typeof given === 'string' ? [given] : given))
  .optional();
const querystring = z.object({
  ...pageQuery,
  id: values.meta({ description: 'Can be repeated: applications with any of these ids.' }),
  type: values.meta({ description: 'Can be repeated: applications of any of these types.' }),
});

/** `GET /applications` (docs/contract.md, "Applications"). `id` and `type` are ANDed, repeats of one are ORed. */
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
