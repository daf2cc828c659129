import { z } from 'zod';
import { applicationTypes } from '../../domain/access/application-type.js';
import { listApplications } from '../../queries/tenancy/list-applications.js';
import { applicationAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { documented } from '../openapi/operation.js';
import { pageExample, pageOf } from '../openapi/schemas/pagination.js';
import { application, applicationExample } from '../openapi/schemas/tenancy.js';
import { pageAnswer, pageQuery, rangeOf } from '../pagination.js';
import { callerOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

/** The query string in the form that the OpenAPI document describes. A single value counts as a list with one item. */
const documentedQuery = z.object({
  ...pageQuery,
  id: z.array(z.string()).optional().meta({ description: 'Returns only applications with one of these ids.' }),
  type: z.array(z.enum(applicationTypes)).optional().meta({ description: 'Returns only applications of these types.' }),
});

const operation = documented({
  id: 'listApplications',
  tag: 'Applications',
  summary: 'List applications',
  description: 'Returns the tenant’s live applications that match all filters, newest first.',
  query: documentedQuery,
  answers: {
    200: {
      description: 'A page of applications.',
      schema: pageOf(application),
      example: pageExample(applicationExample),
    },
  },
  problems: ['validation_failed'],
});

/** A query parameter with one or more values. An absent parameter filters nothing. */
const values = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (typeof given === 'string' ? [given] : given))
  .optional();
const querystring = z.object({ ...pageQuery, id: values, type: values });

/**
 * `GET /applications` (docs/contract.md, "Applications"). The result contains the applications that match both `id` and
 * `type`. If a parameter is repeated, an application must match one of its values.
 */
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
