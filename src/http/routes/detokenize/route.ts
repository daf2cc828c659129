import { detokenize } from '../../../commands/tokens/detokenize.js';
import { problemFrom } from '../../error-handler.js';
import { jsonBodyOf } from '../../json-body-of.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';

/** `POST /detokenize` (contract, section 9). */
export const detokenizeRoute: Routes = (app, { vault }) => {
  app.post(
    '/detokenize',
    { config: { permission: 'token:use', mediaType: 'application/json' } },
    async (request, reply) => {
      const result = await detokenize(vault, { caller: callerOf(request) }, jsonBodyOf(request));
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, result.value.reveal());
    },
  );
};
