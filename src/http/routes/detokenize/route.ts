import { detokenize } from '../../../commands/tokens/detokenize.js';
import { parseTemplate } from '../../../domain/detokenize/parse-template.js';
import { problemFrom } from '../../error-handler.js';
import { jsonBodyOf } from '../../json-body-of.js';
import { Problem } from '../../problem.js';
import { callerOf, contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { detokenizeOperation as operation } from './operation.js';

/** `POST /detokenize` (contract, section 9). */
export const detokenizeRoute: Routes = (app, { vault, limits }) => {
  app.post(
    '/detokenize',
    { config: { permission: 'token:use', mediaType: 'application/json', operation } },
    async (request, reply) => {
      const template = parseTemplate(vault.expressions, jsonBodyOf(request));
      if (!template.ok) throw new Problem('validation_failed', template.errors);
      const caller = callerOf(request);
      await limits.weigh(caller, template.value.ids.size);
      const result = await detokenize(vault, contextOf(request), template.value);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, result.value.reveal());
    },
  );
};
