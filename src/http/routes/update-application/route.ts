import { z } from 'zod';
import { applicationAnswer } from '../../../commands/directory/directory-answers.js';
import { updateApplication } from '../../../commands/directory/update-application.js';
import { updateApplicationBody } from '../../directory-body.js';
import { directoryContextOf } from '../../directory-context.js';
import { problemFrom } from '../../error-handler.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { updateApplicationOperation as operation } from './operation.js';

/** `PUT /applications/{id}` (contract, section 10): in force for every key of it when the answer arrives. */
export const updateApplicationRoute: Routes = (app, { vault }) => {
  app.put(
    '/applications/:id',
    {
      schema: { params: z.object({ id: z.string() }), body: updateApplicationBody },
      config: { permission: 'application:update', mediaType: 'application/json', operation },
    },
    async (request, reply) => {
      const context = directoryContextOf(request);
      const result = await updateApplication(vault, context, request.params.id, request.body);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, applicationAnswer(context.tenantId, result.value));
    },
  );
};
