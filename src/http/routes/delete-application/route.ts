import { deleteApplication } from '../../../commands/directory/delete-application.js';
import { directoryContextOf } from '../../directory-context.js';
import { problemFrom } from '../../error-handler.js';
import type { ApplicationParams, Routes } from '../../routes.js';
import { deleteApplicationOperation as operation } from './operation.js';

/** `DELETE /applications/{id}` (contract, section 10): its keys stop at once. */
export const deleteApplicationRoute: Routes = (app, { vault }) => {
  app.delete<{ Params: ApplicationParams }>(
    '/applications/:id',
    { config: { permission: 'application:delete', operation } },
    async (request, reply) => {
      const result = await deleteApplication(vault, directoryContextOf(request), request.params.id);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};
