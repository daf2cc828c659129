import { keyAnswer } from '../../../commands/directory/directory-answers.js';
import { issueKey } from '../../../commands/directory/issue-key.js';
import { directoryContextOf } from '../../directory-context.js';
import { problemFrom } from '../../error-handler.js';
import { idempotencyOf } from '../../idempotency.js';
import type { ApplicationParams, Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { issueKeyOperation as operation } from './operation.js';

/** `POST /applications/{id}/keys` (contract, section 10): the key is shown in this answer and never again. */
export const issueKeyRoute: Routes = (app, { vault }, headerNames) => {
  app.post<{ Params: ApplicationParams }>(
    '/applications/:id/keys',
    { config: { permission: 'application:create', operation } },
    async (request, reply) => {
      const { id } = request.params;
      const path = `/applications/${id}/keys`;
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, path);
      const result = await issueKey(vault, directoryContextOf(request), id, idempotency);
      if (!result.ok) throw problemFrom(result);
      const { key, shown } = result.value;
      reply.header('location', `${path}/${key.id}`);
      return sendJson(reply, 201, { ...keyAnswer(key), ...(shown === null ? {} : { key: shown.reveal() }) });
    },
  );
};
