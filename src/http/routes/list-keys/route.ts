import { listedKeyAnswer } from '../../../commands/directory/directory-answers.js';
import { listKeys } from '../../../commands/directory/list-keys.js';
import { problemFrom } from '../../error-handler.js';
import { callerOf } from '../../request-state.js';
import type { ApplicationParams, Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { listKeysOperation as operation } from './operation.js';

/** `GET /applications/{id}/keys` (contract, section 10): an array, never a key itself. */
export const listKeysRoute: Routes = (app, { vault }) => {
  app.get<{ Params: ApplicationParams }>(
    '/applications/:id/keys',
    { config: { permission: 'application:read', operation } },
    async (request, reply) => {
      const result = await listKeys(vault, callerOf(request).tenantId, request.params.id);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, result.value.map(listedKeyAnswer));
    },
  );
};
