import { recordReads, type ShownToken } from '../../../commands/access-log/record-reads.js';
import type { TokenAnswer } from '../../../commands/tokens/token-answer.js';
import { type TokenizePart, tokenize } from '../../../commands/tokens/tokenize.js';
import type { Json } from '../../../domain/json.js';
import { problemFrom } from '../../error-handler.js';
import { idempotencyOf } from '../../idempotency.js';
import { jsonBodyOf } from '../../json-body-of.js';
import { Problem } from '../../problem.js';
import { contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
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
      const parts = readParts(body);
      if (!parts.ok) throw new Problem('validation_failed', parts.errors);
      const context = { ...contextOf(request), idempotency };
      await limits.weigh(context.caller, parts.value.length);
      const result = await tokenize(vault, context, parts.value);
      if (!result.ok) throw problemFrom(result);
      const shown = result.value.map((token, index) => shownAs(parts.value[index], token));
      await recordReads(
        vault,
        context,
        shown.map(({ record }) => record),
      );
      const replacements = shown.values();
      const answer = withReplaced(body, () => replacements.next().value?.replacement ?? null);
      return sendJson(reply, 200, answer);
    },
  );
};

/** Of a value by itself the answer shows the id alone. */
function shownAs(part: TokenizePart | undefined, token: TokenAnswer): { replacement: Json; record: ShownToken } {
  return part?.isValue === true
    ? { replacement: token.id, record: { ...token, transform: 'redact' } }
    : { replacement: token.body.reveal(), record: token };
}
