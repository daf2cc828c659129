import { detokenize } from '../../../commands/tokens/detokenize.js';
import { parseTemplate } from '../../../domain/detokenize/parse-template.js';
import { jsonText } from '../../../domain/json-text.js';
import { problemFrom } from '../../error-handler.js';
import { jsonBodyOf } from '../../json-body-of.js';
import { detokenizeRoomBytes } from '../../load/room-bytes.js';
import { Problem } from '../../problem.js';
import { callerOf, contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendText } from '../../send-json.js';
import { detokenizeOperation as operation } from './operation.js';

/** `POST /detokenize` (contract, section 9). */
export const detokenizeRoute: Routes = (app, { vault, limits }) => {
  app.post(
    '/detokenize',
    { config: { permission: 'token:use', mediaType: 'application/json', roomBytes: detokenizeRoomBytes, operation } },
    async (request, reply) => {
      const caller = callerOf(request);
      const work = vault.turns.begin(caller.tenantId);
      const template = await work.run(parseTemplate(vault.expressions, jsonBodyOf(request)));
      if (!template.ok) throw new Problem('validation_failed', template.errors);
      await limits.weigh(caller, template.value.ids.size);
      const result = await detokenize(vault, contextOf(request), template.value);
      if (!result.ok) throw problemFrom(result);
      return sendText(reply, 200, await work.run(jsonText(result.value.reveal())));
    },
  );
};
