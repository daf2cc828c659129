import { z } from 'zod';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { createApplication, deleteApplication, updateApplication } from '../../commands/tenancy/applications.js';
import { applicationTypes } from '../../domain/access/application-type.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import { tokenPermissions } from '../../domain/access/permission.js';
import { transforms } from '../../domain/access/transform.js';
import type { JsonObject } from '../../domain/json.js';
import { parseApplication } from '../../domain/tenancy/parse-directory.js';
import { listApplications } from '../../queries/tenancy/list-applications.js';
import { applicationAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { livingApplication } from '../../vault/open-directory.js';
import { anObject, anyJson, text } from '../body/body-fields.js';
import { idempotencyOf } from '../idempotency.js';
import { documented } from '../openapi/operation.js';
import { pageExample, pageOf } from '../openapi/schemas/pagination.js';
import {
  application,
  applicationExample,
  applicationRequestExample,
  applicationWithKey,
  keyExample,
} from '../openapi/schemas/tenancy.js';
import { pageAnswer, pageQuery, rangeOf } from '../pagination.js';
import { Problem, problemFrom } from '../problem/problem.js';
import { callerOf, contextOf, directoryContextOf } from '../request-state.js';
import type { IdParams, Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const listed = { type: ['array', 'null'], minItems: 1, maxItems: 50 };
/** The schema for an access rule in a request. It only documents the rule. The domain validates it. */
const accessRule = {
  type: 'object',
  additionalProperties: false,
  required: ['container', 'transform', 'permissions'],
  properties: {
    description: { type: ['string', 'null'], description: 'A human-readable description.' },
    priority: { type: ['integer', 'null'], default: 1, description: 'Rules with a lower number are tried first.' },
    container: {
      type: 'string',
      description: 'The container that the rule covers, with its sub-containers, such as `/pci/`.',
    },
    transform: { type: 'string', enum: [...transforms], description: 'What the caller sees of the data.' },
    permissions: {
      type: 'array',
      items: { type: 'string', enum: [...tokenPermissions] },
      description: 'What the caller may do with the tokens.',
    },
  },
} as const;
const access = {
  permissions: anyJson.optional().meta({
    ...listed,
    items: { type: 'string' },
    description:
      '1 to 50 permissions that the type may hold (`GET /permissions`). Send either `permissions` or `rules`.',
  }),
  rules: anyJson.optional().meta({
    ...listed,
    items: accessRule,
    description: '1 to 50 access rules. Send either `rules` or `permissions`.',
  }),
};
const name = text.meta({ description: 'A human-readable name of 1 to 200 characters.' });
const expiresAt = text.nullish().meta({
  description:
    'When the keys of the application stop working, in any format that a token’s `expires_at` accepts. ' +
    'Null means never.',
});

/**
 * The request bodies (docs/contract.md, "Applications"). These schemas check only JSON types. The domain checks
 * everything else. Unknown fields are ignored.
 */
const createBody = z.object(
  {
    name,
    type: z
      .enum(applicationTypes, { error: `must be one of ${applicationTypes.join(', ')}` })
      .meta({ description: 'The type of the application. It determines which permissions the application may hold.' }),
    ...access,
    expires_at: expiresAt,
  },
  anObject,
);
const updateBody = z.object(
  {
    name,
    type: anyJson
      .optional()
      .meta({ description: 'The type of the application. It cannot be changed: any other type returns 400.' }),
    ...access,
    expires_at: expiresAt,
  },
  anObject,
);

/** A query parameter with one or more values. An absent parameter filters nothing. */
const values = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (typeof given === 'string' ? [given] : given))
  .optional();
const listQuery = z.object({ ...pageQuery, id: values, type: values });

/** `listQuery` in the form that the OpenAPI document describes. A single value counts as a list with one item. */
const documentedQuery = z.object({
  ...pageQuery,
  id: z.array(z.string()).optional().meta({ description: 'Returns only applications with one of these ids.' }),
  type: z.array(z.enum(applicationTypes)).optional().meta({ description: 'Returns only applications of these types.' }),
});

const pathParameters = { id: 'The id of the application.' };

const create = documented({
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
      description:
        'The application with its key. A retry with the same idempotency key does not show the key. If the ' +
        'application was changed since, a retry without `application:read` shows only what cannot change: `id`, ' +
        '`tenant_id`, `type`, `created_by` and `created_at`.',
      headers: ['Location'],
      schema: applicationWithKey,
      example: { ...applicationExample, key: keyExample },
    },
  },
  problems: ['validation_failed', 'exceeds_own_permissions', 'idempotency_in_flight', 'idempotent_result_gone'],
});

const list = documented({
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

const getOwn = documented({
  id: 'getOwnApplication',
  tag: 'Applications',
  summary: 'Get the calling application',
  description: 'Returns the application that the request’s API key belongs to.',
  answers: { 200: { description: 'The application.', schema: application, example: applicationExample } },
});

const get = documented({
  id: 'getApplication',
  tag: 'Applications',
  summary: 'Get an application',
  description: 'Returns the application, without its keys.',
  pathParameters,
  answers: { 200: { description: 'The application.', schema: application, example: applicationExample } },
  problems: ['application_not_found'],
});

const update = documented({
  id: 'updateApplication',
  tag: 'Applications',
  summary: 'Update an application',
  description:
    'Changes the name, the permissions or rules, and the expiry. The change takes effect for all of the ' +
    'application’s keys before the response is sent.',
  pathParameters,
  requestExample: applicationRequestExample,
  answers: { 200: { description: 'The updated application.', schema: application, example: applicationExample } },
  problems: ['validation_failed', 'exceeds_own_permissions', 'application_not_found', 'last_administrator'],
});

const remove = documented({
  id: 'deleteApplication',
  tag: 'Applications',
  summary: 'Delete an application',
  description: 'Deletes the application. Its keys stop working immediately.',
  pathParameters,
  answers: { 204: { description: 'The application is deleted, and its keys no longer work.' } },
  problems: ['exceeds_own_permissions', 'application_not_found', 'last_administrator'],
});

/** `/applications` (docs/contract.md, "Applications"). The routes for an application's keys are in `keys.ts`. */
export const applicationRoutes: Routes = (app, { vault }, headerNames) => {
  app.post(
    '/applications',
    {
      schema: { body: createBody },
      config: { permission: 'application:create', mediaType: 'application/json', operation: create },
    },
    async (request, reply) => {
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, '/applications');
      const spec = parseApplication(request.body, vault.clock.now());
      if (!spec.ok) throw new Problem('validation_failed', { errors: spec.errors });
      const context = directoryContextOf(request);
      const result = await createApplication(vault, context, spec.value, idempotency);
      if (!result.ok) throw problemFrom(result);
      const { id, key, document } = result.value;
      const answer = applicationAnswer(context.tenantId, result.value);
      reply.header('location', `/applications/${id}`);
      if (document.modified_at !== null) {
        // Threat: a caller without `application:read` sends the retry to learn what others have changed.
        if (!grantsAnywhere(callerOf(request), 'application:read')) return sendJson(reply, 201, unchangeable(answer));
        await vault.confirmReads(request.beganAt);
        await recordManagementRead(vault, contextOf(request), 'application', id);
      }
      // Only the first response contains the key.
      return sendJson(reply, 201, { ...answer, ...(key === null ? {} : { key: key.reveal() }) });
    },
  );
  app.get(
    '/applications',
    { schema: { querystring: listQuery }, config: { permission: 'application:read', operation: list } },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const { id, type, ...page } = request.query;
      const filter = { ids: id ?? null, types: type ?? null };
      const { applications, total } = await listApplications(vault, tenantId, filter, rangeOf(page));
      const data = applications.map((application) => applicationAnswer(tenantId, application));
      return sendJson(reply, 200, pageAnswer(page, total, data));
    },
  );
  app.get('/applications/key', { config: { permission: 'any_key', operation: getOwn } }, async (request, reply) => {
    const { tenantId, applicationId } = callerOf(request);
    const application = await livingApplication(vault, tenantId, applicationId);
    // Authentication has found the application, so another request must have deleted it since then.
    if (application === null) throw new Problem('unauthenticated');
    return sendJson(reply, 200, applicationAnswer(tenantId, application));
  });
  app.get<{ Params: IdParams }>(
    '/applications/:id',
    { config: { permission: 'application:read', operation: get } },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const application = await livingApplication(vault, tenantId, request.params.id);
      if (application === null) throw new Problem('application_not_found');
      return sendJson(reply, 200, applicationAnswer(tenantId, application));
    },
  );
  app.put(
    '/applications/:id',
    {
      schema: { params: z.object({ id: z.string() }), body: updateBody },
      config: { permission: 'application:update', mediaType: 'application/json', operation: update },
    },
    async (request, reply) => {
      const context = directoryContextOf(request);
      const result = await updateApplication(vault, context, request.params.id, request.body);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, applicationAnswer(context.tenantId, result.value));
    },
  );
  app.delete<{ Params: IdParams }>(
    '/applications/:id',
    { config: { permission: 'application:delete', operation: remove } },
    async (request, reply) => {
      const result = await deleteApplication(vault, directoryContextOf(request), request.params.id);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};

/** Returns the fields of an application that no update can change. */
function unchangeable(answer: JsonObject): JsonObject {
  const fields = ['id', 'tenant_id', 'type', 'created_by', 'created_at'];
  return Object.fromEntries(Object.entries(answer).filter(([field]) => fields.includes(field)));
}
