import { tokenize } from '../../../commands/tokens/tokenize.js';
import { problemFrom } from '../../error-handler.js';
import { idempotencyOf } from '../../idempotency.js';
import { jsonBodyOf } from '../../json-body-of.js';
import { Problem } from '../../problem.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { withReplaced } from './places.js';
import { readParts } from './read-parts.js';

/** `POST /tokenize` (contract, section 9). */
export const tokenizeRoute: Routes = (app, { vault }, headerNames) => {
  app.post(
    '/tokenize',
    { config: { permission: 'token:create', mediaType: 'application/json' } },
    async (request, reply) => {
      const body = jsonBodyOf(request);
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, '/tokenize');
      const parts = readParts(body);
      if (!parts.ok) throw new Problem('validation_failed', parts.errors);
      const { traceId } = request;
      const result = await tokenize(vault, { caller: callerOf(request), traceId, idempotency }, parts.value);
      if (!result.ok) throw problemFrom(result);
      const shown = result.value.map(({ id, body: token }, index) =>
        parts.value[index]?.isValue ? id : token.reveal(),
      );
      const replacements = shown.values();
      return sendJson(
        reply,
        withReplaced(body, () => replacements.next().value ?? null),
      );
    },
  );
};
