import { deleteApplication } from '../../commands/tenancy/applications.js';
import { directoryContextOf } from '../directory-context.js';
import { problemFrom } from '../error-handler.js';
import { documented } from '../openapi/operation.js';
import type { IdParams, Routes } from '../routes.js';

const operation = documented({
  id: 'deleteApplication',
  tag: 'Applications',
  summary: 'Delete an application',
  description: 'Deletes the application. Its keys stop working immediately.',
  pathParameters: { id: 'The id of the application.' },
  answers: { 204: { description: 'The application is deleted, and its keys no longer work.' } },
  problems: ['exceeds_own_permissions', 'application_not_found', 'last_administrator'],
});

/** `DELETE /applications/{id}` (docs/contract.md, "Applications"). The application's keys stop working immediately. */
export const deleteApplicationRoute: Routes = (app, { vault }) => {
  app.delete<{ Params: IdParams }>(
    '/applications/:id',
    { config: { permission: 'application:delete', operation } },
    async (request, reply) => {
      const result = await deleteApplication(vault, directoryContextOf(request), request.params.id);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};
