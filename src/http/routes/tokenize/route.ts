import { recordReads, type ShownToken } from '../../../commands/access-log/record-reads.js';
import { tokenize } from '../../../commands/tokens/tokenize.js';
import { createSharedBudget } from '../../../domain/expressions/budget.js';
import type { Json } from '../../../domain/json.js';
import { jsonText } from '../../../domain/json-text.js';
import { problemFrom } from '../../error-handler.js';
import { idempotencyOf } from '../../idempotency.js';
import { jsonBodyOf } from '../../json-body-of.js';
import { Problem } from '../../problem.js';
import { callerOf, contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendText } from '../../send-json.js';
import { tokenizeOperation as operation } from './operation.js';
import { withReplaced } from './places.js';
import { readParts } from './read-parts.js';

/** `POST /tokenize` (contract, section 9). */
export const tokenizeRoute: Routes = (app, { vault, limits }, headerNames) => {
  app.post(
    '/tokenize',
    { config: { permission: 'token:create', mediaType: 'application/json', operation } },
    async (request, reply) => {
      const body = jsonBodyOf(request);
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, '/tokenize');
      const work = vault.turns.begin(callerOf(request).tenantId);
      const parts = await work.run(readParts(body));
      if (!parts.ok) throw new Problem('validation_failed', parts.errors);
      const context = { ...contextOf(request), idempotency };
      await limits.weigh(context.caller, parts.value.length);
      const result = await tokenize(vault, context, parts.value);
      if (!result.ok) throw problemFrom(result);
      const isShown = (index: number) => parts.value[index]?.isValue !== true;
      await recordReads(
        vault,
        context,
        result.value.map((token, index): ShownToken => (isShown(index) ? token : { ...token, transform: 'redact' })),
      );
      const shared = createSharedBudget();
      const shown: Json[] = [];
      // Of a value by itself the answer shows the id alone.
      for (const [index, { id, render }] of result.value.entries()) {
        shown.push(isShown(index) ? await work.run(render(shared)) : id);
      }
      const replacements = shown.values();
      const answer = await work.run(withReplaced(body, () => replacements.next().value ?? null));
      return sendText(reply, 200, await work.run(jsonText(answer)));
    },
  );
};
